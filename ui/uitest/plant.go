package uitest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// The workflows of a Server. Fate says what a run of Order goes through.
const (
	Order    workflow.Name[Fate, any]       = "order"
	Customs  workflow.Name[string, string]  = "customs"
	Paid     workflow.Signal[string]        = "paid"
	Cleared  workflow.Signal[string]        = "cleared"
	Redirect workflow.Update[string, bool]  = "redirect"
	Stage    workflow.Query[string, string] = "stage"
)

// Fate is the input of an Order.
type Fate struct {
	Fate string `json:"fate"` // a state of Plant
	Note any    `json:"note,omitempty"`
}

// Hostile is what somebody might put into every text that the dashboard shows. It must be seen as
// text, and do nothing.
const Hostile = "<img src=x onerror=alert(1)><script>alert(2)</script> \u202egnp.exe \u0007 ]]> 'a\"b` 🧑‍🚀"

// Register registers the workflows.
func Register(n *runtime.Node) {
	runtime.Handle(n, Order, order, nil)
	runtime.Handle(n, Customs, func(ctx workflow.Context, to string) (string, error) {
		stamp, err := Cleared.Receive(ctx)
		return stamp + " for " + to, err
	}, nil)
	registerMore(n)
	registerForms(n)
}

func order(ctx workflow.Context, in Fate) (any, error) {
	workflow.Publish(ctx, "progress", map[string]any{"fate": in.Fate, "percent": 20})
	stage := "charging"
	Stage.Handle(ctx, func(string) (string, error) { return stage, nil })
	Redirect.Handle(ctx, func(_ workflow.Context, to string) (bool, error) { return to != "", nil }, &workflow.UpdateOptions[string]{Validate: func(to string) error {
		if to == "" {
			return errors.New("an order needs an address")
		}
		return nil
	}})
	_, err := workflow.Step(ctx, "charge", func(context.Context) (string, error) {
		switch in.Fate {
		case "failed":
			return "", workflow.Permanent(errors.New("the card was declined"))
		case "hostile":
			return "", workflow.Permanent(errors.New(Hostile))
		case "retry":
			return "", errors.New("the bank does not answer")
		}
		return "receipt", nil
	}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: later, Max: later}})
	if err != nil {
		return nil, err
	}
	stage = "charged"
	switch in.Fate {
	case "blocked":
		panic("an order without a weight")
	case "timer":
		err = workflow.Sleep(ctx, later)
	case "child":
		_, err = workflow.Call(ctx, Customs, "Lima", nil)
	case "signal", "cancelled", "terminated", "paused":
		_, err = Paid.Receive(ctx)
	case "steps":
		for range 5 {
			if _, err = workflow.Step(ctx, "pack", func(context.Context) (int, error) { return 1, nil }, nil); err != nil {
				break
			}
		}
	}
	return in.Note, err
}

// state is a state that a run can be in: how to bring one there, and how to see that it is.
type state struct {
	word  string
	start func(o *runtime.StartOptions)
	then  func(ctx context.Context, c *runtime.Client, run journal.RunID) error
	there func(e *runtime.Explanation) bool
}

func closedAs(s journal.Status) func(*runtime.Explanation) bool {
	return func(e *runtime.Explanation) bool { return e.Run.Status == s }
}

func parkedFor(kind runtime.ReasonKind) func(*runtime.Explanation) bool {
	return func(e *runtime.Explanation) bool {
		for _, r := range e.Reasons {
			if r.Kind == kind {
				return e.Run.Task != nil && e.Run.Task.Owner == 0
			}
		}
		return false
	}
}

func inState(s journal.TaskState) func(*runtime.Explanation) bool {
	return func(e *runtime.Explanation) bool {
		return e.Run.Task != nil && e.Run.Task.Owner == 0 && e.Run.Task.State == s
	}
}

// states are those of planted runs, oldest first.
var states = []state{
	{word: "completed", there: closedAs(journal.Completed)},
	{word: "steps", there: closedAs(journal.Completed)},
	{word: "failed", there: closedAs(journal.Failed)},
	{word: "cancelled", there: closedAs(journal.Cancelled), then: func(ctx context.Context, c *runtime.Client, run journal.RunID) error {
		return c.Cancel(ctx, run, "the customer has changed their mind")
	}},
	{word: "terminated", there: closedAs(journal.Terminated), then: func(ctx context.Context, c *runtime.Client, run journal.RunID) error {
		return c.Terminate(ctx, run, "the customer does not exist")
	}},
	{word: "signal", there: parkedFor(runtime.ReasonSignal)},
	{word: "timer", there: parkedFor(runtime.ReasonTimer)},
	{word: "retry", there: func(e *runtime.Explanation) bool {
		return e.Run.Task != nil && e.Run.Task.Owner == 0 && len(e.Run.Task.Attempts) > 0
	}},
	{word: "child", there: parkedFor(runtime.ReasonChild)},
	{word: "blocked", there: inState(journal.Blocked)},
	{word: "paused", there: inState(journal.Paused), then: func(ctx context.Context, c *runtime.Client, run journal.RunID) error {
		return c.Pause(ctx, run, &runtime.PauseOptions{Reason: "somebody looks for the address"})
	}},
	{word: "delayed", start: func(o *runtime.StartOptions) { o.Delay = later }, there: parkedFor(runtime.ReasonDelayed)},
	{word: "unserved", start: func(o *runtime.StartOptions) { o.Version = 2 }, there: parkedFor(runtime.ReasonUnserved)},
	{word: "hostile", start: func(o *runtime.StartOptions) {
		o.Key = "hostile/" + strings.ReplaceAll(Hostile, "\u0007", "")
		o.Labels["note"] = "<b>bold</b>"
	}, there: closedAs(journal.Failed)},
}

// Plant makes a run in each state, whose key is its word, and waits until they are there.
func (s *Server) Plant(t testing.TB) map[string]journal.RunID {
	t.Helper()
	ctx := clustertest.Context(t)
	runs := map[string]journal.RunID{}
	for i, st := range states {
		o := &runtime.StartOptions{Key: st.word, Labels: map[string]string{"region": []string{"de", "fr", "pe"}[i%3]}}
		if st.start != nil {
			st.start(o)
		}
		run, err := runtime.Start(ctx, s.Client, Order, Fate{Fate: st.word, Note: Hostile}, o)
		runs[st.word] = clustertest.MustStart(t, run, err).ID()
		if st.then != nil {
			if err := st.then(ctx, s.Client, run.ID()); err != nil {
				t.Fatalf("%s: %v", st.word, err)
			}
		}
	}
	for _, st := range states {
		clustertest.Until(t, "the planted run is "+st.word, func() bool {
			e, err := s.Client.Why(ctx, runs[st.word])
			return err == nil && st.there(e)
		})
	}
	return runs
}
