package state

import (
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Plain replaces in a state what two equal lives do not share: ids, names that hold one, and times.
type Plain struct {
	IDs     []journal.RunID // the n-th becomes the n-th plain id; nil: ids stay
	Nodes   map[journal.NodeID]journal.NodeID
	Text    map[string]string
	Visible func(time.Time) time.Time // for the times at which tasks are visible; nil: as all others
}

// SomeTime stands for all times.
var SomeTime = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

// PlainTime returns [SomeTime] for every time but the zero one.
func PlainTime(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return SomeTime
}

func (p *Plain) id(id journal.RunID) journal.RunID {
	if p.IDs == nil {
		return id
	}
	var short journal.RunID
	binary.BigEndian.PutUint32(short[12:], uint32(slices.Index(p.IDs, id)+1))
	return short
}

func (p *Plain) word(s string) string {
	if w, ok := p.Text[s]; ok {
		return w
	}
	return s
}

// Run makes a run plain, with all that belongs to it.
func (p *Plain) Run(s *Run) {
	r := &s.Run
	r.ID, r.Key, r.Workflow = p.id(r.ID), p.word(r.Key), p.word(r.Workflow)
	delay := r.StartAt.Sub(r.CreatedAt)
	r.CreatedAt, r.StartAt, r.ClosedAt = PlainTime(r.CreatedAt), SomeTime.Add(delay), PlainTime(r.ClosedAt)
	if r.Parent != nil {
		parent := *r.Parent
		parent.Run = p.id(parent.Run)
		r.Parent = &parent
	}
	if r.Task != nil {
		p.Task(r.Task)
	}
	if r.Terminal != nil {
		p.event(r.Terminal)
	}
	for i := range s.Events {
		p.event(&s.Events[i])
	}
	for i := range s.Inbox {
		m := &s.Inbox[i]
		m.Run, m.Time, m.Name, m.Key, m.Payload = p.id(m.Run), PlainTime(m.Time), p.word(m.Name), p.within(m.Key), p.payload(m.Payload)
	}
}

// History is Run for the answer of a load.
func (p *Plain) History(h *driver.History) {
	if h.Err != nil {
		return
	}
	s := Run{Run: h.Run, Events: h.Events, Inbox: h.Inbox}
	p.Run(&s)
	h.Run = s.Run
}

// Task makes the queue row of a run plain.
func (p *Plain) Task(t *journal.Task) {
	t.Run, t.Workflow = p.id(t.Run), p.word(t.Workflow)
	if n, ok := p.Nodes[t.Owner]; ok {
		t.Owner = n
	}
	if t.State == journal.Quarantined || t.State.OnHold() && t.Strikes >= driver.QuarantineStrikes {
		t.Problem = "quarantined" // in the store's own words
	}
	if p.Visible != nil {
		t.VisibleAt = p.Visible(t.VisibleAt)
	} else {
		t.VisibleAt, t.Link, t.Fence = PlainTime(t.VisibleAt), 0, journal.Fence(t.Fence.Count())
	}
	for i := range t.Attempts {
		t.Attempts[i].NextAt = PlainTime(t.Attempts[i].NextAt)
	}
}

// within replaces ids and names inside of a text.
func (p *Plain) within(s string) string {
	for _, id := range p.IDs {
		s = strings.ReplaceAll(s, id.String(), p.id(id).String())
	}
	for long, short := range p.Text {
		s = strings.ReplaceAll(s, long, short)
	}
	return s
}

// payload replaces what the engine's own failures tell of runs.
func (p *Plain) payload(pay journal.Payload) journal.Payload {
	if pay.Encoding == journal.EncodingFailure {
		pay.Data = []byte(p.within(string(pay.Data)))
	}
	return pay
}

func (p *Plain) event(ev *journal.Event) {
	ev.Name, ev.Payload = p.word(ev.Name), p.payload(ev.Payload)
	if p.Visible == nil || ev.ByStore() { // maybe written by the store
		ev.Time = PlainTime(ev.Time)
	}
	if p.Visible != nil {
		return
	}
	ev.Link = 0
	for i := range ev.Issued {
		ev.Issued[i].Due = PlainTime(ev.Issued[i].Due)
	}
}
