package ui_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/schedule"
	"github.com/reprise-run/reprise/runtime/schedule/calendar"
	"github.com/reprise-run/reprise/ui"
	"github.com/reprise-run/reprise/ui/uitest"
)

// looking are the verbs that change nothing.
var looking = []string{"run show", "run list", "run count", "run failures", "run why", "run history", "run watch", "bulk watch", "node list", "workflow list", "workflow show", "queue list",
	"audit", "flow list", "flow draw", "limit list", "limit show", "schedule list", "schedule show", "schedule preview", "view list"}

// plantAllowed makes one of each thing on which a page can act without a run. It returns a bulk job
// that goes on.
func plantAllowed(t *testing.T, s *uitest.Server) journal.RunID {
	t.Helper()
	ctx := clustertest.Context(t)
	startOrder(t, s, "failed", "failed", func(d *runtime.Description) bool { return d.Run.Status == journal.Failed })
	startOrder(t, s, "open", "signal", parked)
	job, err := bulk.Start(ctx, s.Client, bulk.Job{Verb: bulk.SetLabels, Labels: map[string]string{"seen": "yes"}, Where: `workflow = "order"`, Rate: 0.001}, &bulk.Options{Key: "job"})
	if err != nil {
		t.Fatal(err)
	}
	s.Applied(t, schedule.Set{Schedules: []schedule.Schedule{{Name: "daily", Spec: calendar.Spec{Cron: []string{"@daily"}}, Start: schedule.StartOf(uitest.Order, uitest.Fate{})}}})
	if err := runtime.SetLimit(ctx, s.Client, journal.Limit{Name: "bank", Concurrency: 5}); err != nil {
		t.Fatal(err)
	}
	for _, queue := range []string{"elsewhere", "mine"} {
		if err := s.Client.PauseScope(ctx, journal.Scope{Queue: queue}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := runtime.SaveView(ctx, s.Client, "saved", "runs?where=status+%3D+failed"); err != nil {
		t.Fatal(err)
	}
	return job.ID()
}

// TestAllowedPages: pages offer an actor what Allow lets the actor do, and nothing that it would
// refuse: about a workflow, a queue, a limit, a view, a schedule, a node, or the runs of a filter.
func TestAllowedPages(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	job := plantAllowed(t, s)
	sees := func(_ context.Context, _, verb string, _ *journal.Run) bool { return slices.Contains(looking, verb) }
	some := func(ctx context.Context, actor, verb string, run *journal.Run) bool {
		switch verb {
		case "bulk retry", "view delete", "limit set", "node drain", "schedule trigger":
			return true
		case "workflow pause", "run start":
			return run.Workflow == "order"
		case "queue resume":
			return run.Queue == "mine"
		case "run pause":
			return run.Workflow == bulk.Workflow
		}
		return sees(ctx, actor, verb, run)
	}
	const offered = `[...document.querySelectorAll("main button:not([role=tab]), main a.button, main tbody input")].filter(b => b.checkVisibility()).map(b => (b.ariaLabel ?? b.innerText).trim())`
	// What changes something, of each page: what an actor who may do some things is offered.
	pages := []struct{ at, offers string }{
		{"runs?where=status+%3D+failed", "Delete view…|Do something to all|Choose run"},
		{"workflows", "Pause workflow order"},
		{"workflows/order", "Start a run|Pause"},
		{"queues", "Pause order in queue|Resume queue mine"},
		{"failures", "Retry runs that failed"},
		{"limits", "Make a limit"},
		{"limits/bank", "Bound one key|Change the bounds"},
		{"schedules", ""},
		{"schedules/daily", "Trigger"},
		{"nodes", "Drain uitest"},
		{"bulk/" + job.String(), "Pause"},
	}
	look := []string{"Find", "Show", "Copy", "Compare", "Try times", "All", "any time", "1", "6h", "24h", "7", "30d", "Started", "Took", "Columns", "Clear"}
	for _, actor := range []struct {
		allow  func(ctx context.Context, actor, verb string, run *journal.Run) bool
		offers bool
	}{{sees, false}, {some, true}} {
		p := uitest.Open(t, s.Beside(t, func(o *ui.Options) { o.API.Allow = actor.allow }), "runs")
		for _, page := range pages {
			p.Go(page.at)
			p.Await(`document.querySelector("main h1") && document.querySelector("main tbody tr, main .facts, main .empty") && !document.querySelector("main [aria-busy=true]")`)
			p.Await(`performance.getEntriesByType("resource").some(e => e.name.includes("/api/may") && e.responseEnd > 0)`)
			var wants []string
			if actor.offers {
				wants = strings.FieldsFunc(page.offers, func(r rune) bool { return r == '|' })
			}
			for _, want := range wants {
				p.Await(fmt.Sprintf(`%s.some(b => b.startsWith(%q))`, offered, want))
			}
			for _, b := range uitest.Eval[[]string](p, offered) {
				if !slices.ContainsFunc(append(wants, look...), func(l string) bool { return strings.HasPrefix(b, l) }) {
					t.Errorf("page %s offers %q, with some rights: %t", page.at, b, actor.offers)
				}
			}
		}
	}
}
