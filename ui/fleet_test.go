package ui_test

import (
	"fmt"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/ui/uitest"
)

// confirm gives a reason in the open dialog, sends it with the button that has a text, and waits
// until the dialog is gone.
func confirm(p *uitest.Page, verb, reason string) {
	p.T.Helper()
	p.Await(`document.querySelector("dialog[open]")?.contains(document.activeElement)`)
	if reason != "" {
		p.Fill(`dialog .field:last-of-type input`, reason)
	}
	p.Click(`dialog button[type=submit]`)
	p.Await(`!document.querySelector("dialog") && document.querySelector(".toast")`)
}

// act clicks on the button with a label or a text, once it can be clicked.
func act(p *uitest.Page, name string) {
	p.T.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll("main button")].find(b => !b.disabled && (b.ariaLabel ?? b.textContent) === %q)`, name)
	p.Await(find)
	uitest.Eval[bool](p, "("+find+".focus(), "+find+".click(), true)")
}

// see waits until the page shows a text.
func see(p *uitest.Page, text string) {
	p.T.Helper()
	p.AwaitText("main", text)
}

// TestQueues: what waits and what no node serves is seen, and a queue and a workflow in it are
// paused and resumed.
func TestQueues(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	ctx := clustertest.Context(t)
	hostile := workflow.Name[string, string](uitest.Hostile[:40])
	if _, err := runtime.Start(ctx, s.Client, hostile, "", &runtime.StartOptions{Queue: "a/b <i>c</i> ü"}); err != nil {
		t.Fatal(err)
	}
	p := uitest.Open(t, s, "queues")
	see(p, "no node serves it")
	see(p, "a/b <i>c</i> ü")
	see(p, "2 queues, 1 waiting for a node")
	if _, err := runtime.Start(ctx, s.Client, hostile, "", &runtime.StartOptions{Queue: "a/b <i>c</i> ü"}); err != nil {
		t.Fatal(err)
	}
	see(p, "2 waiting for a node") // the page hears of it
	act(p, "Pause default")
	confirm(p, "Pause", "the till is broken")
	see(p, "queue default is paused by anonymous over HTTP")
	see(p, "the till is broken")
	act(p, "Pause order in queue default")
	p.Await(`document.querySelector("dialog[open]")`)
	p.Click("dialog input[type=checkbox]")
	confirm(p, "Pause", "")
	see(p, "workflow order in queue default is paused")
	see(p, "steps are interrupted")
	p.Accessible()
	p.Shoot("queues")
	act(p, "Resume workflow order in queue default")
	confirm(p, "Resume", "")
	act(p, "Resume queue default")
	confirm(p, "Resume", "mended")
	p.Await(`!document.querySelector(".notices")`)
	if list, err := s.Client.Pauses(ctx); err != nil || len(list) != 0 {
		t.Errorf("paused are %+v (%v)", list, err)
	}
}

// TestWorkflows: who serves what, what no node serves, the versions of one, and its pause.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	ctx := clustertest.Context(t)
	name := "shop/order <b> 'x' \"y\" 🧑‍🚀"
	for version := range int32(2) {
		if _, err := runtime.Start(ctx, s.Client, workflow.Name[string, string](name), "", &runtime.StartOptions{Version: version + 1}); err != nil {
			t.Fatal(err)
		}
	}
	p := uitest.Open(t, s, "workflows")
	see(p, "2 versions have open runs and no node that serves them.")
	p.Accessible()
	p.Shoot("workflows")
	p.Click("tbody a")
	p.AwaitText("h1", name)
	p.Await(`document.querySelectorAll('table[aria-label="Versions"] tbody tr').length === 2`)
	see(p, "Started in the last day")
	act(p, "Start a run")
	p.Await(`document.querySelector("dialog[open] input")?.value.startsWith("shop/order")`)
	p.Fill("dialog textarea", `{"order": 7}`)
	p.Click("dialog button[type=submit]")
	p.Await(`[...document.querySelectorAll('table[aria-label="Versions"] tbody a')].some(a => a.innerText === "2")`) // open runs of version 1
	act(p, "Pause version 2 in queue default")
	confirm(p, "Pause", "")
	see(p, "v2 in queue default is paused")
	act(p, "Pause")
	confirm(p, "Pause", "all of it")
	p.Await(`document.querySelectorAll(".notices li").length === 2`)
	p.Accessible()
	p.Shoot("workflow")
	for left := 1; left >= 0; left-- {
		uitest.Eval[bool](p, `(document.querySelector(".notices button").click(), true)`)
		confirm(p, "Resume", "")
		p.Await(fmt.Sprintf(`document.querySelectorAll(".notices li").length === %d`, left))
	}
}

// TestNodes: a node is drained, by the keyboard alone.
func TestNodes(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	p := uitest.Open(t, s, "runs")
	p.Await(`document.querySelector("main h1")`)
	p.Press("g")
	p.Press("n")
	see(p, "1 node")
	p.Accessible()
	p.Shoot("nodes")
	p.Press("j") // to the row's first link
	p.Await(`document.activeElement?.closest("tbody")`)
	for range 10 {
		if uitest.Eval[bool](p, `document.activeElement?.ariaLabel === "Drain uitest"`) {
			break
		}
		p.Press("\t")
	}
	p.Press("\r")
	p.Await(`document.querySelector("dialog[open]")?.contains(document.activeElement)`)
	p.Fill("dialog input", "a new version comes")
	p.Press("\r")
	see(p, "No node is live.")
	list, err := s.Client.Audit(clustertest.Context(t), journal.AuditFilter{Verb: "drain"})
	if err != nil || len(list) != 1 || list[0].Reason != "a new version comes" {
		t.Errorf("the audit says %+v (%v)", list, err)
	}
}
