package replay_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// TestWrongCodeEndsNoRun: what only the code can be blamed for stops the machine, so that the run
// waits for better code. A history that an older release closed so still fits.
func TestWrongCodeEndsNoRun(t *testing.T) {
	long := strings.Repeat("x", 2000) // the rig's limit is 1024
	for name, c := range map[string]struct {
		code func(ctx) (any, error)
		want string
	}{
		"an output that JSON cannot hold": {func(ctx) (any, error) { return map[string]any{"a": make(chan int)}, nil }, "field [a]"},
		"an output that is too large":     {func(ctx) (any, error) { return long, nil }, "exceeds the limit of 1024"},
		"an empty name":                   {func(c ctx) (any, error) { return step(c, "") }, `step "": is empty`},
		"an option out of range": {func(c ctx) (any, error) {
			return nil, workflow.Do(c, "x", func(context.Context) error { return nil }, &workflow.StepOptions{AttemptTimeout: -1})
		}, "option AttemptTimeout"},
		"an empty name, wrapped": {func(c ctx) (any, error) {
			_, err := step(c, "")
			return nil, errors.Join(errors.New("no luck"), err)
		}, `step "": is empty`},
		"another workflow's generation": {func(c ctx) (any, error) {
			return nil, workflow.ContinueAsNew(c, workflow.Name[string, string]("other"), "", nil)
		}, `not "other"`},
		"a child's input": {func(c ctx) (any, error) {
			return workflow.Call(c, workflow.Name[string, string]("child"), long, nil)
		}, "exceeds the limit of 1024"},
	} {
		t.Run(name, func(t *testing.T) {
			def := workflow.Define("test", 1, func(ctx ctx, _ *void) (any, error) { return c.code(ctx) })
			r := newRig(def)
			defer r.m.Close()
			_, err := r.step(started())
			if !errors.Is(err, journal.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the turn ended with %v", err)
			}
			if d := r.m.Take(); d.Terminal != nil {
				t.Errorf("the run ended: %v", d.Terminal)
			}
			old := newRig(def)
			defer old.m.Close()
			ev := started()
			closed := journal.Event{Seq: 2, Kind: journal.RunFailed, Time: epoch}
			if ev.Seq = 1; old.m.Replay(&ev) != nil || old.m.Replay(&closed) != nil {
				t.Error("a history that ended so does not fit any more")
			}
		})
	}
}

// TestOpenHistory: code that returns where the history of an open run waits has lost that wait.
// While the history goes on, its next event tells; at its end CheckOpen does.
func TestOpenHistory(t *testing.T) {
	waits := newRig(define(func(c ctx) (string, error) { return approved.Receive(c) }))
	defer waits.m.Close()
	mustStep(t, waits, started())
	if err := waits.m.CheckOpen(); err != nil {
		t.Errorf("code that waits: %v", err)
	}
	returns := define(func(ctx) (string, error) { return "", nil })
	for name, more := range map[string][]journal.Event{
		"at the end": nil,
		"before it":  {{Seq: 2, Kind: journal.SignalReceived, Name: "other", Time: epoch, Payload: journal.Payload{Data: []byte(`"x"`)}}},
	} {
		lost := newRig(returns)
		defer lost.m.Close()
		ev := waits.history[0]
		err := lost.m.Replay(&ev)
		for i := range more {
			err = errors.Join(err, lost.m.Replay(&more[i]))
		}
		err = errors.Join(err, lost.m.CheckOpen())
		if d, ok := errors.AsType[*replay.DivergenceError](err); !ok || d.Got != "RunCompleted" {
			t.Errorf("%s: %v", name, err)
		}
		if d := lost.m.Take(); d.Terminal != nil {
			t.Errorf("%s: the run ended", name)
		}
	}
}

// oneWay encodes to what it does not decode.
type oneWay struct{ N int }

func (oneWay) MarshalJSON() ([]byte, error) { return []byte(`"text"`), nil }

// TestOutputComesBack: an output that does not decode into its own type fails its step.
func TestOutputComesBack(t *testing.T) {
	r := newRig(define(func(c ctx) (string, error) {
		_, err := workflow.Step(c, "x", func(context.Context) (oneWay, error) { return oneWay{1}, nil }, nil)
		return "", err
	}))
	defer r.m.Close()
	mustStep(t, r, started())
	_, err := r.m.Take().Steps[0].Body(t.Context(), nil)
	if f := replay.FailureOf(err); f.Type != journal.FailureEncode || !strings.Contains(f.Message, "oneWay cannot be decoded") {
		t.Errorf("the attempt ended with %+v", f)
	}
}
