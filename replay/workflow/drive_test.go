package workflow_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// occurrence is something that happens to a run from outside.
type occurrence struct {
	signal  string
	payload any
	cancel  bool
}

// drive runs a workflow to its end in one process without a store: a step is executed once, as soon as it is
// asked for; when nothing else is to do the next occurrence comes, and then the next timer fires. It
// prints how the run ended.
func drive(def *replay.Definition, input any, occurrences ...occurrence) {
	ev, err := run(def, input, occurrences)
	if err != nil {
		fmt.Println("blocked:", err)
		return
	}
	if f, err := journal.DecodeFailure(ev.Payload); err == nil {
		fmt.Println(ev.Kind, f.Message)
		return
	}
	fmt.Println(ev.Kind, string(ev.Payload.Data))
}

func run(def *replay.Definition, input any, occurrences []occurrence) (*journal.Event, error) {
	j := journal.New(nil, nil)
	in, err := j.Encode("input", input)
	if err != nil {
		return nil, err
	}
	m := replay.New(def, replay.Info{Run: journal.RunID{1}, Workflow: def.Name, Version: def.Version, Generation: 1, Input: in}, j)
	defer m.Close()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ev := journal.Event{Kind: journal.RunStarted, Time: now}
	var steps []replay.Step
	for {
		ev.Seq = m.LastSeq() + 1
		if err := m.Step(&ev); err != nil {
			return nil, err
		}
		d := m.Take()
		if d.Terminal != nil {
			return d.Terminal, nil
		}
		steps = append(steps, d.Steps...)
		timer, armed := m.NextTimer()
		switch {
		case len(steps) > 0:
			ev, steps = execute(j, m, steps[0]), steps[1:]
		case len(occurrences) > 0:
			ev, occurrences = occurrences[0].event(), occurrences[1:]
		case armed:
			now = timer.Due
			ev = journal.Event{Kind: journal.TimerFired, Cmd: timer.Cmd, Name: timer.Name}
		default:
			return nil, fmt.Errorf("waits for %v", m.Waiting())
		}
		ev.Time = now
	}
}

func execute(j *journal.Journal, m *replay.Machine, s replay.Step) journal.Event {
	info := m.Info()
	ctx := replay.WithStepContext(background, &replay.StepContext{
		Info: &info, Cmd: s.Cmd, Step: s.Name, Attempt: 1, Encoder: j,
	})
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

func (o occurrence) event() journal.Event {
	if o.cancel {
		return journal.Event{Kind: journal.CancelRequested}
	}
	data, _ := json.Marshal(o.payload)
	return journal.Event{Kind: journal.SignalReceived, Name: o.signal, Payload: journal.Payload{Data: data}}
}

// Ledger stands for a transaction of a store.
type Ledger struct{ entries []string }

var ledger Ledger
