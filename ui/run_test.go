package ui_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/reprise-run/reprise/ui/uitest"
)

// TestRunStates: of a run in every state the page says the state, why it stands there and what it has
// done.
func TestRunStates(t *testing.T) {
	t.Parallel()
	p := openRun(t, uitest.Planted(t), "none")
	for _, s := range []struct {
		key, word, why, rows string
		shoot                bool
	}{
		{"completed", "completed", "the run is completed", "charge", false},
		{"steps", "completed", "the run is completed", "charge|pack|pack|pack|pack|pack", true},
		{"failed", "failed", "the card was declined", "charge", false},
		{"cancelled", "cancelled", "the customer has changed their mind", "", false},
		{"terminated", "terminated", "the customer does not exist", "", false},
		{"signal", "open", "it waits for signal paid", "charge|it waits for signal paid", false},
		{"timer", "open", "over by itself in 23h", "charge|timer", false},
		{"retry", "open", "step charge has failed once, last with: the bank does not answer", "charge", true},
		{"child", "open", "child customs, run ", "charge|customs", false},
		{"blocked", "blocked", "an order without a weight at uitest.order (", "", true},
		{"paused", "paused", "has paused it: somebody looks for the address", "", false},
		{"delayed", "open", "its start delays it", "start delayed", false},
		{"unserved", "open", "no live node serves workflow order, version 2", "unserved: ", true},
	} {
		p.Go("runs/key=" + s.key)
		p.AwaitText(".why", s.why)
		p.Await(fmt.Sprintf(`document.querySelector("h1 .badge").dataset.word === %q && /runs\/[0-9a-f-]{36}$/.test(location.pathname)`, s.word))
		if s.rows != "" {
			p.Await(rowNames + fmt.Sprintf(`.startsWith(%q)`, s.rows))
		}
		if s.shoot || flag.Lookup("shots").Value.String() != "" { // each takes a moment
			p.Shoot("run-" + s.key)
		}
	}
	p.Go("runs/key=blocked")
	p.Await(`document.querySelector(".why code.place")?.innerText.startsWith("plant.go:")`)
	p.Accessible()
	p.Go("runs/key=retry")
	p.AwaitText(".item .times", "×1")
	p.Go("runs/key=child")
	p.Click(".why a.id")
	p.AwaitText(".why", "it waits for signal cleared")
	p.AwaitText(".facts", "Parent")
}

// TestRunParts: each part of a run's page shows what it is for, and is for everybody.
func TestRunParts(t *testing.T) {
	t.Parallel()
	s := uitest.Planted(t)
	p := openRun(t, s, "runs/key=child")
	p.Await(treeRows + ` === "2"`)
	// A child inline: by its sign, and by keys.
	p.Click(".item[data-kind=child] .twisty")
	p.Await(rowNames + `.startsWith("charge|customs|") && ` + treeRows + ` === "3"`)
	p.Do(focusOn(".windowed"))
	p.Press(kb.Home + kb.ArrowDown)
	p.AwaitText("#details h2", "customs")
	p.Press(kb.ArrowLeft)
	p.Await(treeRows + ` === "2"`)
	p.Press(kb.ArrowRight)
	p.Await(treeRows + ` === "3" && document.querySelector("[role=treeitem][aria-expanded=true]") && document.querySelector("#details a[href*='runs/']")`)
	p.Accessible()
	p.Shoot("run-inline")
	p.Press("+")
	p.AwaitText(".waterfall", "after the beginning")
	p.Press("0")
	p.Await(`!document.querySelector(".strip .seen")`)
	p.Click(".waterfall .end input[type=checkbox]")
	p.Await(`document.querySelectorAll(".lanes svg.lane path").length >= 2`)
	p.Accessible()
	p.Shoot("run-lanes")

	p.tab("history")
	p.Await(`document.querySelector("[role=listbox]").dataset.count === "2"`)
	p.Click(".event:last-child")
	p.AwaitText("#details", "receipt")
	p.AwaitText("#details", "child customs")
	p.Accessible()
	p.Shoot("run-history")
	p.ClickText("Does today's code fit this history?")
	p.AwaitText(".fits [role=status]", "It does.")
	p.Press("v")
	p.AwaitText(".list.full .event", "then asked for")
	p.Shoot("run-history-full")
	p.Press("v")
	p.AwaitText(".history pre", `"kind": "StepCompleted"`)
	p.Shoot("run-history-json")
	if is := uitest.Eval[int](p.Page, `fetch(document.querySelector("a[download]").href).then(r => r.text()).then(t => t.trim().split("\n").map(JSON.parse).length)`); is != 2 {
		t.Errorf("the download has %d events", is)
	}
	p.Fill(".history input[type=search]", "nothing like this")
	p.Await(`document.querySelector(".history pre").innerText === "[]"`)

	p.tab("children")
	p.AwaitText(".tree", "customs")
	p.Click(".tree .twisty")
	p.Shoot("run-children")

	p.tab("values")
	p.AwaitText(".values", `"percent": 20`)
	p.Shoot("run-values")

	p.tab("ask")
	p.AwaitText(".ask", "A query asks")
	p.Accessible()
	p.Shoot("run-ask")
	p.Allow("status of 404")
	p.tab("flow")
	p.AwaitText(".empty", "no flow")

	p.Go("runs/key=paused?tab=audit")
	p.AwaitText("tbody", "somebody looks for the address")
	p.Accessible()
	p.Shoot("run-audit")
	p.Do(focusOn("[role=tab][aria-selected=true]"))
	p.Press(kb.Home)
	p.Await(`document.querySelector("[role=tab][aria-selected=true]").dataset.tab === "" && document.querySelector(".shade span")`)
	p.Press(kb.ArrowRight)
	p.Await(`document.activeElement.dataset.tab === "history" && location.search === "?tab=history"`)
}

// TestRunHostile: what anybody may have put into a run is text, and does nothing.
func TestRunHostile(t *testing.T) {
	t.Parallel()
	p := openRun(t, uitest.Planted(t), "runs?where=key+starts+with+%22hostile%22")
	p.Await(`document.querySelectorAll("tbody tr").length === 1`)
	p.Click("tbody a.run")
	p.AwaitText(".why", "<script>alert(2)</script>")
	p.AwaitText("h1", "<img src=x onerror=alert(1)>")
	for _, id := range []string{"", "history", "messages", "values", "children", "ask", "audit"} {
		p.tab(id)
		if n := uitest.Eval[int](p.Page, `document.querySelectorAll("main script, main img, main b").length`); n != 0 {
			t.Errorf("%s: %d elements have been made of a text", id, n)
		}
		if uitest.Eval[bool](p.Page, `/[\u202e\u0007\u0000]/.test(document.querySelector("main").innerText)`) {
			t.Errorf("%s has characters that turn the text around them", id)
		}
	}
	p.tab("values")
	p.AwaitText(".outcome", "alert(2)")
	p.Accessible()
	p.Shoot("run-hostile")
}

// TestRunFlow: a run of a flow is drawn with where its nodes stand.
func TestRunFlow(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	s.PlantFlow(t)
	p := openRun(t, s, "runs/key=fulfil?tab=flow")
	p.Await(`document.querySelector('.graph .node[data-id="approval"]')?.dataset.word === "running" && document.querySelector('.node[data-id="charge"]').dataset.word === "completed"`)
	p.Click(`.node[data-id="gift-card"]`)
	p.AwaitText(".details", "skipped: its condition is not met")
	p.Accessible()
	p.Shoot("run-flow")
}
