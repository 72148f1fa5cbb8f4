package runtime_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const (
	tagged  workflow.Name[int, string]   = "tagged"
	tagOver workflow.Signal[string]      = "over"
	noCode  workflow.Name[int, struct{}] = "of code that no node has"
)

func labelled(t *testing.T, client *runtime.Client, run journal.RunID, want map[string]string) {
	t.Helper()
	d, err := client.Describe(clustertest.Context(t), run)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, d.Run.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

// TestLabelsBesideTheCode: code goes on from the labels that an operator has set while it was live,
// and does not see them.
func TestLabelsBesideTheCode(t *testing.T) {
	c := clustertest.New(t)
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, tagged, func(ctx workflow.Context, _ int) (string, error) {
			workflow.SetLabels(ctx, map[string]string{"stage": "begun", "code": "1"})
			tagOver.Receive(ctx)
			workflow.SetLabels(ctx, map[string]string{"stage": "done"})
			return ctx.Info().Labels["team"], nil
		}, nil)
	})
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	started, err := runtime.Start(ctx, client, tagged, 1, &runtime.StartOptions{Labels: map[string]string{"team": "red"}})
	run := clustertest.MustStart(t, started, err)
	clustertest.Described(t, client, run.ID(), "the code has set labels", func(d *runtime.Description) bool { return d.Run.Labels["code"] == "1" })
	if err := client.SetLabels(ctx, run.ID(), map[string]string{"stage": "stuck", "team": "blue", "ticket": "7"}, []string{"code"}); err != nil {
		t.Fatal(err)
	}
	labelled(t, client, run.ID(), map[string]string{"stage": "stuck", "team": "blue", "ticket": "7"})
	if err := runtime.Signal(ctx, client, run.ID(), tagOver, "", nil); err != nil {
		t.Fatal(err)
	}
	if got := clustertest.MustResult(t, run); got != "red" {
		t.Errorf("the code has seen team %q, want that of the start", got)
	}
	labelled(t, client, run.ID(), map[string]string{"stage": "done", "team": "blue", "ticket": "7"})
	n.Stop()
}

// TestEditWithoutANode: labels and priority of a run whose code no node has, with who and why, and
// with interceptors that see what is asked for.
func TestEditWithoutANode(t *testing.T) {
	c := clustertest.New(t)
	var seen []string
	look := func(ctx context.Context, call *runtime.Call, next func(context.Context) error) error {
		switch p := call.Payload.(type) {
		case map[string]*string:
			seen = append(seen, string(call.Kind))
			for name, value := range p {
				if value != nil {
					*value = "changed by an interceptor"
				}
				delete(p, name)
			}
		case int16:
			seen = append(seen, string(call.Kind))
			if p == 4 {
				return errors.New("four is forbidden")
			}
		}
		return next(ctx)
	}
	client := runtime.NewClient(c.Journal, &runtime.ClientOptions{Interceptors: []runtime.Interceptor{{Client: look}}})
	ctx := runtime.WithReason(runtime.WithActor(clustertest.Context(t), "eva"), "for the test")
	started, err := runtime.Start(ctx, client, noCode, 1, nil)
	run := clustertest.MustStart(t, started, err).ID()
	none := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	none(client.SetLabels(ctx, run, map[string]string{"a": "1", "b": "2"}, nil))
	none(client.SetLabels(ctx, run, nil, []string{"b", "c"}))
	none(client.SetPriority(ctx, run, 1))
	if err := client.SetPriority(ctx, run, 4); err == nil || !strings.Contains(err.Error(), "set-priority of run "+run.String()+" was refused: four is forbidden") {
		t.Errorf("refused by an interceptor: %v", err)
	}
	if d, err := client.Describe(ctx, run); err != nil || d.Run.Priority != 1 {
		t.Errorf("the priority is %d, %v", d.Run.Priority, err)
	}
	if err := client.SetLabels(ctx, run, map[string]string{"a": "2"}, []string{"a"}); !errors.Is(err, journal.ErrInvalid) || !strings.Contains(err.Error(), run.String()) {
		t.Errorf("set and removed: %v", err)
	}
	none(client.Terminate(ctx, run, ""))
	none(client.SetLabels(ctx, run, map[string]string{"a": "3"}, nil))
	if err := client.SetPriority(ctx, run, 2); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("the priority of a closed run: %v", err)
	}
	labelled(t, client, run, map[string]string{"a": "3"})
	if want := []string{"set-labels", "set-labels", "set-priority", "set-priority", "set-labels", "set-priority"}; !slices.Equal(seen, want) {
		t.Errorf("interceptors have seen %v", seen)
	}
	list, err := client.Audit(ctx, journal.AuditFilter{Run: run})
	var got []string
	for _, e := range list {
		if got = append(got, e.Verb+": "+e.Detail); e.Actor != "eva" || e.Reason != "for the test" {
			t.Errorf("entry %+v", e)
		}
	}
	want := []string{`set-labels: set a="3"`, "terminate: ", "set-priority: from 3 to 1", "set-labels: removed b", `set-labels: set a="1", set b="2"`}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("the audit, %v (-want +got):\n%s", err, diff)
	}
}
