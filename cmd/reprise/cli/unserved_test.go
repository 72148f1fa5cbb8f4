package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// TestUnservedRunsAreListed: open runs of which no live node has the version are in doctor and in
// workflow list, whatever they wait for, once each; those that a node serves are not.
func TestUnservedRunsAreListed(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "runs.db")
	plant(t, store)
	const none = `{"workflow":"demo.customs","version":1,"queue":"default","nodes":[],"open":1}`
	doctor := reprise(t, store, cli.ExitFailed, "doctor").out
	wantText(t, "doctor", doctor, "open runs of workflow demo.customs, version 1, queue default wait for something else than a node", "workflow demo.parcel, version 1",
		`run list --where 'status = open and workflow = "demo.customs" and version = 1 and queue = "default"'`)
	if n := strings.Count(doctor, "demo.parcel, version 2"); n != 1 {
		t.Errorf("what is due is said %d times:\n%s", n, doctor)
	}
	wantText(t, "workflow list", reprise(t, store, cli.ExitDone, "workflow", "list", "-o", "jsonl").out, none, `"version":2`)
	if out := reprise(t, store, cli.ExitDone, "workflow", "list", "--served", "-o", "jsonl").out; out != "" {
		t.Errorf("served is %s", out)
	}
	wantText(t, "the filter", reprise(t, store, cli.ExitDone, "run", "list", "--where", `status = open and workflow = "demo.customs" and version = 1 and queue = "default"`).out, "demo.customs")

	_, stop := program(t, store)
	defer stop()
	out := reprise(t, store, cli.ExitDone, "workflow", "list", "-o", "jsonl").out
	if wantText(t, "workflow list", out, `"version":2`); strings.Contains(out, none) {
		t.Errorf("what a node serves is listed as unserved:\n%s", out)
	}
	if doctor := reprise(t, store, cli.ExitFailed, "doctor").out; !strings.Contains(doctor, "live nodes serve all runs that are open and not due") {
		t.Errorf("doctor beside a node:\n%s", doctor)
	}
}

// TestUnservedAmongManyRoutes: what no node serves is found beside more routes than a condition can
// name.
func TestUnservedAmongManyRoutes(t *testing.T) {
	t.Parallel()
	out := listWorkflows(t, func(s *memory.Store) cli.Store { return &crowd{Store: s} })
	wantText(t, "workflow list", out, `"workflow":"retired"`)
	if strings.Contains(out, `"open":1,`) || strings.Count(out, `"open"`) != 1 {
		t.Errorf("listed is %s", out)
	}
}

// crowd is a store with a node that serves a hundred routes.
type crowd struct{ *memory.Store }

func (s *crowd) Nodes(context.Context) ([]journal.Node, error) {
	n := journal.Node{ID: 1, Name: "crowd"}
	for i := range 100 {
		n.Routes = append(n.Routes, journal.Route{Queue: journal.DefaultQueue, Workflow: fmt.Sprint("served", i), Version: 1})
	}
	return []journal.Node{n}, nil
}

// TestUnservedTakesTooLong: if counting takes too long, the rest is said.
func TestUnservedTakesTooLong(t *testing.T) {
	t.Parallel()
	if out := listWorkflows(t, func(s *memory.Store) cli.Store { return &slow{crowd{Store: s}} }); !strings.Contains(out, `"workflow":"served7"`) || strings.Contains(out, "retired") {
		t.Errorf("listed is %s", out)
	}
}

// slow is a store that counts for too long.
type slow struct{ crowd }

func (s *slow) Aggregate(context.Context, journal.Aggregate) (journal.Aggregated, error) {
	return journal.Aggregated{}, fmt.Errorf("count: %w", context.DeadlineExceeded)
}

// listWorkflows lists those of a store that has a run of workflow retired, and of each of served0
// to served99.
func listWorkflows(t *testing.T, of func(*memory.Store) cli.Store) string {
	t.Helper()
	root := cli.New(&cli.Options{Open: func(ctx context.Context, _ bool) (cli.Store, error) {
		s := memory.New(nil)
		client := runtime.NewClient(journal.New(s, nil), nil)
		names := []string{"retired", "retired"}
		for i := range 100 {
			names = append(names, fmt.Sprint("served", i))
		}
		for _, name := range names {
			if _, err := runtime.Start(ctx, client, workflow.Name[int, int](name), 1, nil); err != nil {
				return nil, err
			}
		}
		return of(s), nil
	}})
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs([]string{"workflow", "list", "-o", "jsonl"})
	if code := cli.ExitCode(root.ExecuteContext(t.Context())); code != cli.ExitDone {
		t.Fatalf("exit code %d: %s", code, out.String())
	}
	return out.String()
}
