package replay_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// TestOnFailureDoesNotChangeTheEnd: a run whose OnFailure is called fails, whatever comes meanwhile
// and whatever that returns; its time is not up any more.
func TestOnFailureDoesNotChangeTheEnd(t *testing.T) {
	again := func(c ctx) error { return workflow.ContinueAsNew(c, workflow.Name[*void, string]("test"), nil, nil) }
	for name, test := range map[string]struct {
		returns error
		last    func(c ctx) error
		request bool
	}{
		"a cancel request that comes meanwhile": {workflow.ErrCancelled, func(ctx) error { return nil }, true},
		"cancelled by itself":                   {errors.New("no such price"), func(ctx) error { return workflow.ErrCancelled }, true},
		"continue as new":                       {errors.New("no such price"), again, false},
	} {
		t.Run(name, func(t *testing.T) {
			def := define(func(ctx) (string, error) { return "", test.returns })
			workflow.OnFailure(def, func(c ctx, _ error) error {
				if _, err := step(c, "notice"); err != nil {
					return err
				}
				return test.last(c)
			})
			info := replay.Info{
				Run: journal.RunID{7}, Workflow: "test", Version: 1, Queue: "q", Generation: 1, StartAt: epoch, Deadline: epoch.Add(time.Hour),
				Labels: map[string]string{}, OnFailure: "mend",
			}
			r := &rig{m: replay.New(def, info, journal.New(nil, nil)), said: info.Labels}
			defer r.m.Close()
			mustStep(t, r, started())
			if timer, armed := r.m.NextTimer(); armed {
				t.Errorf("%s is due at %s", timer.Name, timer.Due)
			}
			if test.request {
				mustStep(t, r, journal.Event{Kind: journal.CancelRequested, Inbox: 1, Time: epoch})
			}
			mustStep(t, r, journal.Event{Kind: journal.StepCompleted, Cmd: 1, Name: "notice", Attempt: 1, Time: epoch, Payload: journal.Payload{Data: []byte(`"x"`)}})
			d := r.m.Take()
			if d.Terminal == nil || d.Terminal.Kind != journal.RunFailed || d.Continue != nil || len(d.Starts) != 1 {
				t.Errorf("ended with %+v, continue %+v, %d starts", d.Terminal, d.Continue, len(d.Starts))
			}
		})
	}
}

// TestOnFailureOfALongFailure: a failure can be stored however long it is, so the run ends, and what
// is started is told as much of it as a payload may have.
func TestOnFailureOfALongFailure(t *testing.T) {
	def := define(func(ctx) (string, error) { return "", errors.New(strings.Repeat("long ", 1000)) })
	info := replay.Info{Run: journal.RunID{7}, Workflow: "test", Version: 1, Queue: "q", Generation: 1, StartAt: epoch, OnFailure: "mend"}
	m := replay.New(def, info, journal.New(nil, &journal.Options{PayloadBytesMax: 2 << 10}))
	defer m.Close()
	ev := started()
	ev.Seq = 1
	if err := m.Step(&ev); err != nil {
		t.Fatal(err)
	}
	d := m.Take()
	if d.Terminal == nil || d.Terminal.Kind != journal.RunFailed || len(d.Starts) != 1 {
		t.Fatalf("decision %+v", d)
	}
	var in workflow.FailedRun
	if err := (journal.JSON{}).Decode(d.Starts[0].Input, &in); err != nil || !strings.HasPrefix(in.Failure.Message, "long long") || in.Failure.Type == "" {
		t.Errorf("told %+v, %v", in, err)
	}
	// The limit may be lower when somebody looks at the run again.
	again := replay.New(def, info, journal.New(nil, &journal.Options{PayloadBytesMax: 16}))
	defer again.Close()
	if err := again.Replay(&ev); err != nil {
		t.Error(err)
	}
}
