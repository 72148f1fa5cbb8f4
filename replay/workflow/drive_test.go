package workflow_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// occurrence is something that happens to a run from outside: one of these.
type occurrence struct {
	signal  string
	update  string // its reply is printed
	query   string // its answer is printed
	payload any
	cancel  bool
}

// town holds the workflows that can be children.
var town = map[string]*replay.Definition{}

// drive runs a workflow to its end in one process without a store: a step is executed once, as soon
// as it is asked for; when nothing else is to do the next occurrence comes, then a child runs to
// its end, and then the next timer fires. It prints how the run ended.
func drive(def *replay.Definition, input any, occurrences ...occurrence) {
	ev, err := run(def, input, occurrences)
	if err != nil {
		fmt.Println("blocked:", err)
		return
	}
	fmt.Println(ev.Kind, shown(ev.Payload))
}

// shown is a payload for people.
func shown(p journal.Payload) string {
	if f, err := journal.DecodeFailure(p); err == nil {
		return f.Message
	}
	return string(p.Data)
}

func run(def *replay.Definition, input any, occurrences []occurrence) (*journal.Event, error) {
	j := journal.New(nil, nil)
	in, err := j.Encode("input", input)
	if err != nil {
		return nil, err
	}
	d := &player{journal: j, def: def, occurrences: occurrences, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	defer func() { d.machine.Close() }()
	d.begin(replay.Info{Run: journal.RunID{1}, Workflow: def.Name, Version: def.Version, Generation: 1, Input: in, Queue: "default"})
	ev := journal.Event{Kind: journal.RunStarted}
	for {
		end, err := d.step(ev)
		if end != nil || err != nil {
			return end, err
		}
		if ev, err = d.next(); err != nil {
			return nil, err
		}
	}
}

// player is a run and everything around it.
type player struct {
	journal     *journal.Journal
	def         *replay.Definition
	machine     *replay.Machine
	now         time.Time
	steps       []replay.Step
	inbox       []journal.Message // a message's number is its place, from 1
	unread      []journal.InboxSeq
	children    []journal.Start
	sent        map[journal.RunID][]occurrence // to children that do not run yet
	occurrences []occurrence
}

func (d *player) begin(info replay.Info) {
	d.machine, d.steps = replay.New(d.def, info, d.journal), nil
	d.machine.SetThresholds(replay.Thresholds{Events: 5})
}

// step applies an event and carries out what the code asks for. It returns the event that closes
// the run.
func (d *player) step(ev journal.Event) (*journal.Event, error) {
	ev.Seq, ev.Time = d.machine.LastSeq()+1, d.now
	if err := d.machine.Step(&ev); err != nil {
		return nil, err
	}
	decision := d.machine.Take()
	d.children = append(d.children, decision.Starts...)
	for _, m := range decision.Messages {
		d.send(m)
	}
	for _, p := range decision.Published {
		fmt.Println("published:", p.Name, shown(p.Value))
	}
	for _, name := range slices.Sorted(maps.Keys(decision.Labels)) {
		if value := decision.Labels[name]; value != nil {
			fmt.Println("label:", name, "=", *value)
		} else {
			fmt.Println("no label:", name)
		}
	}
	for _, r := range decision.Replies {
		fmt.Println("reply:", shown(r.Payload))
	}
	switch next := decision.Continue; {
	case next != nil:
		info := d.machine.Info()
		info.Generation, info.Input = info.Generation+1, next.Input
		d.unread = append(next.Carried, d.unread...)
		d.machine.Close()
		d.begin(info)
		return d.step(journal.Event{Kind: journal.RunStarted})
	case decision.Terminal != nil:
		return decision.Terminal, nil
	}
	d.steps = slices.DeleteFunc(append(d.steps, decision.Steps...), func(s replay.Step) bool {
		return slices.Contains(decision.DropSteps, s.Cmd)
	})
	return nil, nil
}

// next returns what happens next.
func (d *player) next() (journal.Event, error) {
	for {
		timer, armed := d.machine.NextTimer()
		switch {
		case len(d.steps) > 0:
			s := d.steps[0]
			d.steps = d.steps[1:]
			return execute(d.journal, d.machine, s), nil
		case len(d.unread) > 0:
			m := d.inbox[d.unread[0]-1]
			d.unread = d.unread[1:]
			if m.Kind == journal.MessageUpdate {
				if err := d.machine.CheckUpdate(m.Name, m.Payload); err != nil {
					fmt.Println("rejected:", err)
					continue
				}
			}
			return m.Event(), nil
		case len(d.occurrences) > 0:
			o := d.occurrences[0]
			d.occurrences = d.occurrences[1:]
			d.occur(o)
		case len(d.children) > 0:
			st := d.children[0]
			d.children = d.children[1:]
			if err := d.runChild(st); err != nil {
				return journal.Event{}, err
			}
		case armed:
			d.now = timer.Due
			return timer.Event(), nil
		default:
			return journal.Event{}, fmt.Errorf("waits for %v", d.machine.Waiting())
		}
	}
}

func (d *player) deliver(m journal.Message) {
	m.Number = journal.InboxSeq(len(d.inbox) + 1)
	d.inbox, d.unread = append(d.inbox, m), append(d.unread, m.Number)
}

func (d *player) occur(o occurrence) {
	data, _ := json.Marshal(o.payload)
	p := journal.Payload{Data: data}
	switch {
	case o.cancel:
		d.deliver(journal.Message{Kind: journal.MessageCancel})
	case o.signal != "":
		d.deliver(journal.Message{Kind: journal.MessageSignal, Name: o.signal, Payload: p})
	case o.update != "":
		d.deliver(journal.Message{Kind: journal.MessageUpdate, Name: o.update, Payload: p})
	default:
		answer, err := d.machine.Query(o.query, p)
		fmt.Println("answer:", shown(answer), err)
	}
}

// send delivers a message to a child that does not run yet. Nobody else can be reached.
func (d *player) send(m journal.Message) {
	answer := journal.Message{Kind: journal.MessageSent, Name: m.Name, Cmd: m.Cmd}
	if slices.ContainsFunc(d.children, func(st journal.Start) bool { return st.ID == m.Run }) {
		if d.sent == nil {
			d.sent = map[journal.RunID][]occurrence{}
		}
		o := occurrence{signal: m.Name, payload: json.RawMessage(m.Payload.Data), cancel: m.Kind == journal.MessageCancel}
		d.sent[m.Run] = append(d.sent[m.Run], o)
	} else {
		f := &journal.Failure{Type: journal.FailureNotFound, Message: "nobody"}
		answer.Kind, answer.Payload = journal.MessageRefused, journal.EncodeFailure(f)
	}
	if m.Cmd != 0 {
		d.deliver(answer)
	}
}

func (d *player) runChild(st journal.Start) error {
	ev, err := run(town[st.Workflow], json.RawMessage(st.Input.Data), d.sent[st.ID])
	if err != nil {
		return fmt.Errorf("child %s: %w", st.Workflow, err)
	}
	m := journal.Message{Kind: journal.MessageChildCompleted, Name: st.Workflow, Cmd: st.Parent.Cmd, Payload: ev.Payload}
	if ev.Kind != journal.RunCompleted {
		m.Kind = journal.MessageChildFailed
	}
	d.deliver(m)
	return nil
}

func execute(j *journal.Journal, m *replay.Machine, s replay.Step) journal.Event {
	info := m.Info()
	sc := replay.StepContext{Info: &info, Cmd: s.Cmd, Step: s.Name, Attempt: 1, Encoder: j}
	if len(s.Options.Limits) > 0 {
		sc.Limits = settled{}
	}
	ctx := replay.WithStepContext(background, &sc)
	var tx any
	if s.Options.Tx {
		tx = &ledger
	}
	ev := journal.Event{Kind: journal.StepCompleted, Cmd: s.Cmd, Name: s.Name, Attempt: 1}
	var err error
	if ev.Payload, err = s.Body(ctx, tx); err != nil {
		ev.Kind, ev.Payload = journal.StepFailed, journal.EncodeFailure(replay.FailureOf(err))
	}
	return ev
}

// settled stands for the limits of a node.
type settled struct{}

func (settled) Settle(string, int64) error { return nil }

// Ledger stands for a transaction of a store.
type Ledger struct{ entries []string }

var ledger Ledger
