package ui_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/ui/uitest"
)

// runPage is the page of a run.
type runPage struct{ *uitest.Page }

func openRun(t *testing.T, s *uitest.Server, path string) runPage {
	t.Helper()
	return runPage{uitest.Open(t, s, path)}
}

// treeRows is how many rows the waterfall has, also those out of sight.
const treeRows = `(document.querySelector(".windowed[role=tree]")?.dataset.count ?? "0")`

// rowNames are what the waterfall's rows are called.
const rowNames = `[...document.querySelectorAll("[role=treeitem] .name bdi")].map(e => e.innerText).join("|")`

// tab chooses a part of the page.
func (p runPage) tab(id string) {
	p.T.Helper()
	p.Click(fmt.Sprintf(`[role=tab][data-tab=%q]`, id))
	p.Await(fmt.Sprintf(`document.querySelector('[role=tab][data-tab=%q]').ariaSelected === "true"`, id))
}

// act chooses an action of the head.
func (p runPage) act(verb string) {
	p.T.Helper()
	p.Await(`document.querySelector(".head .actions button") && !document.querySelector("dialog")`)
	if !uitest.Eval[bool](p.Page, fmt.Sprintf(`[...document.querySelectorAll(".head .actions > button")].some(b => b.innerText === %q)`, verb+"…")) {
		p.Click(".menu-box > button")
	}
	p.ClickText(verb + "…")
	p.Await(`document.querySelector("dialog[open]")`)
}

// field is the selector of the control that has a label.
func (p runPage) field(label string) string {
	p.T.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll("dialog label, main label")].find(l => l.htmlFor && l.innerText.trim().startsWith(%q))`, label)
	p.Await(find)
	return fmt.Sprintf("[id=%q]", uitest.Eval[string](p.Page, find+`.htmlFor`))
}

// choose takes a value of a list.
func (p runPage) choose(selector, value string) {
	p.T.Helper()
	uitest.Eval[bool](p.Page, fmt.Sprintf(`(s => (s.value = %q, s.dispatchEvent(new Event("change", {bubbles: true}))))(document.querySelector(%q))`, value, selector))
}

// submit sends the dialog and waits until it is gone.
func (p runPage) submit(verb string) {
	p.T.Helper()
	p.ClickText(verb)
	p.Await(`!document.querySelector("dialog")`)
}

// preview shows what would be done, and waits until it says so.
func (p runPage) preview(says string) {
	p.T.Helper()
	p.ClickText("Show what it would do")
	p.AwaitText("dialog .preview", says)
}

// word waits until the head says a state.
func (p runPage) word(word string) {
	p.T.Helper()
	p.Await(fmt.Sprintf(`document.querySelector("h1 .badge")?.dataset.word === %q`, word))
}

func focusOn(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).focus()`, selector))
}

// startOrder starts a run of Order and waits until it is there.
func startOrder(t *testing.T, s *uitest.Server, key, fate string, there func(*runtime.Description) bool) journal.RunID {
	t.Helper()
	run, err := runtime.Start(clustertest.Context(t), s.Client, uitest.Order, uitest.Fate{Fate: fate}, &runtime.StartOptions{Key: key})
	id := clustertest.MustStart(t, run, err).ID()
	clustertest.Described(t, s.Client, id, "the run is there", there)
	return id
}

func parked(d *runtime.Description) bool {
	return d.Run.Task != nil && d.Run.Task.Owner == 0 && len(d.Waiting) > 0
}

// audited looks for an entry of the audit.
func audited(t *testing.T, s *uitest.Server, run journal.RunID, verb, reason string) {
	t.Helper()
	list, err := s.Client.Audit(clustertest.Context(t), journal.AuditFilter{Run: run, Verb: verb})
	if err != nil || len(list) == 0 || list[0].Reason != reason {
		t.Errorf("the audit of %s has %+v (%v), want the reason %q", verb, list, err, reason)
	}
}
