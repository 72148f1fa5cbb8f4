package ui_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
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

// onlyLooks are the buttons that change nothing, by the beginnings of what they say. Whatever else
// a page offers must not be there when the dashboard only shows.
var onlyLooks = []string{"Find", "Show", "Copy", "Ask", "Compare", "Try times", "More", "Close the details", "Zoom", "In the history", "Does today's code fit", "All", "any time", "1", "6h", "24h", "7", "30d",
	"Reset", "Fork", "Give it another result…", "Give a step a result (preview)…", "Retry (preview)…", "Started", "Took"}

// pagePaths are the paths of all pages, as their sources name them.
func pagePaths(t *testing.T) (paths []string) {
	t.Helper()
	files, err := filepath.Glob("web/src/pages/*.tsx")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`: Page = \{ path: "([^"]*)"`).FindAllStringSubmatch(string(text), -1) {
			paths = append(paths, m[1])
		}
	}
	if len(paths) < 15 {
		t.Fatalf("the pages are %q", paths)
	}
	return paths
}

// TestReadOnlyPages: a dashboard that only shows offers on no page what would be refused, whatever
// there is to act on.
func TestReadOnlyPages(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	ctx := clustertest.Context(t)
	failed := startOrder(t, s, "failed", "failed", func(d *runtime.Description) bool { return d.Run.Status == journal.Failed })
	open := startOrder(t, s, "open", "signal", parked)
	_, hash := s.PlantFlow(t)
	job, err := bulk.Start(ctx, s.Client, bulk.Job{Verb: bulk.SetLabels, Labels: map[string]string{"seen": "yes"}, Where: `workflow = "order"`, Rate: 0.001}, &bulk.Options{Key: "job"})
	if err != nil {
		t.Fatal(err)
	}
	s.Applied(t, schedule.Set{Schedules: []schedule.Schedule{{Name: "daily", Spec: calendar.Spec{Cron: []string{"@daily"}}, Start: schedule.StartOf(uitest.Order, uitest.Fate{})}}})
	if err := runtime.SetLimit(ctx, s.Client, journal.Limit{Name: "bank", Concurrency: 5}); err != nil {
		t.Fatal(err)
	}
	if err := s.Client.PauseScope(ctx, journal.Scope{Queue: "elsewhere"}, nil); err != nil {
		t.Fatal(err)
	}
	of := map[string][]string{ // what is shown of pages with a name in their path
		"runs/:run":           {"runs/" + failed.String()},
		"workflows/:workflow": {"workflows/order"},
		"schedules/:schedule": {"schedules/daily"},
		"flows/:flow":         {"flows/" + hash},
		"bulk/:run":           {"bulk/" + job.ID().String()},
		"limits/:limit":       {"limits/bank"},
	}
	for _, tab := range []string{"", "history", "messages", "values", "children", "flow", "ask", "audit"} {
		of["runs/:run"] = append(of["runs/:run"], "runs/"+open.String()+"?tab="+tab)
	}
	p := uitest.Open(t, s.Beside(t, func(o *ui.Options) { o.API.ReadOnly = true }), "runs")
	p.AwaitText("nav", "read only")
	p.Press("nb")
	p.Allow("status of 404") // of a run that is no flow
	unseen := map[string]bool{}
	for _, l := range onlyLooks {
		unseen[l] = true
	}
	for _, path := range pagePaths(t) {
		shown := of[path]
		if strings.Contains(path, ":") && shown == nil {
			t.Errorf("page %s is not looked at", path)
			continue
		}
		delete(of, path)
		if shown == nil {
			shown = []string{path}
		}
		for _, at := range shown {
			p.Go(at)
			p.Await(`document.querySelector("main h1") && document.querySelector("main tbody tr, main .empty, main .item, main form, main .facts, main .part, main .event, main [role=tabpanel], main svg") && !document.querySelector("main [aria-busy=true]")`)
			if strings.Contains(at, "tab=history") || strings.HasSuffix(at, "tab=") { // what is offered of one
				p.Click("main .event, main .item")
				p.Await(`document.querySelector("#details")`)
			}
			if strings.HasPrefix(at, "runs/") {
				p.Click(".menu-box > button")
			}
			const offered = `[...document.querySelectorAll("main button:not([role=tab]), main a.button, main input[type=submit]")].filter(b => b.checkVisibility()).map(b => b.ariaLabel ?? b.innerText.trim())`
			for _, b := range uitest.Eval[[]string](p, offered) {
				i := slices.IndexFunc(onlyLooks, func(l string) bool { return strings.HasPrefix(b, l) })
				if i < 0 {
					t.Errorf("page %s offers %q", at, b)
					continue
				}
				delete(unseen, onlyLooks[i])
			}
			if n := uitest.Eval[int](p, `document.querySelectorAll("dialog, tbody input").length`); n > 0 {
				t.Errorf("page %s has %d boxes or dialogs", at, n)
			}
		}
	}
	if len(unseen) > 0 {
		t.Errorf("no page offers %q", slices.Sorted(maps.Keys(unseen)))
	}
	if len(of) > 0 {
		t.Errorf("there are no pages %q", slices.Collect(maps.Keys(of)))
	}
	// What it compares it does not offer to apply.
	p.Go("schedule-sets")
	p.Await(`document.querySelector("textarea.large")`)
	uitest.Eval[bool](p, fmt.Sprintf(`(t => (t.value = %q, t.dispatchEvent(new InputEvent("input", {bubbles: true})), true))(document.querySelector("textarea.large"))`, fmt.Sprintf(set, "hourly")))
	act(p, "Compare")
	see(p, "hourly is new")
	if uitest.Eval[bool](p, `[...document.querySelectorAll("main button")].some(b => b.innerText === "Apply")`) {
		t.Error("a set is offered to be applied")
	}
}
