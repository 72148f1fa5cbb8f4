package journaltest

import (
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// plain replaces in a state what two equal lives do not share: ids, names that hold one, and times.
type plain struct {
	ids     []journal.RunID // the n-th becomes the n-th plain id; nil: ids stay
	nodes   map[journal.NodeID]journal.NodeID
	text    map[string]string
	visible func(time.Time) time.Time // for the times at which tasks are visible; nil: as all others
}

// someTime stands for all times.
var someTime = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

func plainTime(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return someTime
}

func (p *plain) id(id journal.RunID) journal.RunID {
	if p.ids == nil {
		return id
	}
	var short journal.RunID
	binary.BigEndian.PutUint32(short[12:], uint32(slices.Index(p.ids, id)+1))
	return short
}

func (p *plain) word(s string) string {
	if w, ok := p.text[s]; ok {
		return w
	}
	return s
}

func (p *plain) run(s *RunState) {
	r := &s.Run
	r.ID, r.Key, r.Workflow = p.id(r.ID), p.word(r.Key), p.word(r.Workflow)
	delay := r.StartAt.Sub(r.CreatedAt)
	r.CreatedAt, r.StartAt, r.ClosedAt = plainTime(r.CreatedAt), someTime.Add(delay), plainTime(r.ClosedAt)
	if r.Parent != nil {
		r.Parent = cloned(r.Parent)
		r.Parent.Run = p.id(r.Parent.Run)
	}
	if r.Task != nil {
		p.task(r.Task)
	}
	if r.Terminal != nil {
		p.event(r.Terminal)
	}
	for i := range s.Events {
		p.event(&s.Events[i])
	}
	for i := range s.Inbox {
		m := &s.Inbox[i]
		m.Run, m.Time, m.Name, m.Key, m.Payload = p.id(m.Run), plainTime(m.Time), p.word(m.Name), p.within(m.Key), p.payload(m.Payload)
	}
}

// history is run for the answer of a load.
func (p *plain) history(h *journal.History) {
	if h.Err != nil {
		return
	}
	s := RunState{Run: h.Run, Events: h.Events, Inbox: h.Inbox}
	p.run(&s)
	h.Run = s.Run
}

func (p *plain) task(t *journal.Task) {
	t.Run, t.Workflow = p.id(t.Run), p.word(t.Workflow)
	if n, ok := p.nodes[t.Owner]; ok {
		t.Owner = n
	}
	if t.State == journal.Quarantined {
		t.Problem = "quarantined" // in the store's own words
	}
	if p.visible != nil {
		t.VisibleAt = p.visible(t.VisibleAt)
	} else {
		t.VisibleAt = plainTime(t.VisibleAt)
	}
	for i := range t.Attempts {
		t.Attempts[i].NextAt = plainTime(t.Attempts[i].NextAt)
	}
}

// within replaces ids and names inside of a text.
func (p *plain) within(s string) string {
	for _, id := range p.ids {
		s = strings.ReplaceAll(s, id.String(), p.id(id).String())
	}
	for long, short := range p.text {
		s = strings.ReplaceAll(s, long, short)
	}
	return s
}

// payload replaces what the engine's own failures tell of runs.
func (p *plain) payload(pay journal.Payload) journal.Payload {
	if pay.Encoding == journal.EncodingFailure {
		pay.Data = []byte(p.within(string(pay.Data)))
	}
	return pay
}

func (p *plain) event(ev *journal.Event) {
	ev.Name, ev.Payload = p.word(ev.Name), p.payload(ev.Payload)
	if p.visible == nil || ev.Kind == journal.RunTerminated { // maybe written by the store
		ev.Time = plainTime(ev.Time)
	}
	if p.visible != nil {
		return
	}
	for i := range ev.Issued {
		ev.Issued[i].Due = plainTime(ev.Issued[i].Due)
	}
}
