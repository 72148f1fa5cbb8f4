package ui_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/ui"
	"github.com/reprise-run/reprise/ui/api"
	"github.com/reprise-run/reprise/ui/uitest"
)

// TestRunAdministered: labels, priority, pause and resume, and what each leaves in the audit.
func TestRunAdministered(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	id := startOrder(t, s, "a/b c?'\"", "signal", parked)
	p := openRun(t, s, "runs/"+id.String())
	p.AwaitText("h1", `a/b c?'"`)

	p.act("Labels")
	p.ClickText("Add a label")
	p.Fill("[aria-label='Name of label 1']", "tier")
	p.Fill("[aria-label='Value of label 1']", "<b>gold</b>")
	p.Fill(p.field("Reason"), "a good customer")
	p.Accessible()
	p.Shoot("run-labels")
	p.submit("Set the labels")
	p.AwaitText(".label", "<b>gold</b>")
	audited(t, s, id, "set-labels", "a good customer")

	p.act("Priority")
	p.choose(p.field("Priority"), "1")
	p.submit("Change it")
	p.AwaitText(".facts", "priority 1")

	p.act("Pause")
	p.Click(p.field("Freeze timers"))
	p.Fill(p.field("Reason"), "look at it")
	p.Shoot("run-pause")
	p.submit("Pause it")
	p.word("paused")
	p.AwaitText(".why", "look at it")
	audited(t, s, id, "pause", "look at it")
	d, err := s.Client.Describe(clustertest.Context(t), id)
	if err != nil || !d.Run.Freezes.Lasts() {
		t.Errorf("its timers do not stand still: %+v, %v", d.Run.Freezes, err)
	}

	// A message that waits is left out.
	if err := runtime.Signal(clustertest.Context(t), s.Client, id, uitest.Paid, "twice", nil); err != nil {
		t.Fatal(err)
	}
	p.tab("messages")
	p.AwaitText(".cards", "twice")
	p.Click(".cards summary")
	p.Accessible()
	p.Shoot("run-messages")
	p.ClickText("Leave it out…")
	p.preview("No step that has ended would run again")
	p.submit("Leave it out")
	p.AwaitText(".empty", "No message waits") // it is as if nobody had sent it
	p.tab("audit")
	p.AwaitText("tbody", "skip")

	p.act("Resume")
	p.submit("Let it go on")
	p.word("open")

	p.act("Cancel")
	p.Fill(p.field("Reason"), "changed their mind")
	p.submit("Ask it to cancel itself")
	p.word("cancelled") // without being loaded anew
	p.AwaitText(".why", "changed their mind")

	p.act("Delete")
	p.Press(kb.Escape)
	p.Await(`!document.querySelector("dialog")`)
	p.act("Delete")
	p.Shoot("run-delete")
	p.submit("Delete it for good")
	p.AwaitText("h1", "Runs")
	if _, err := s.Client.Describe(clustertest.Context(t), id); err == nil {
		t.Error("the run is still there")
	}
}

// TestRunGoesBack: retry, reset, fork, edit and terminate, after a look at what each would do.
func TestRunGoesBack(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	ctx := clustertest.Context(t)
	failed := startOrder(t, s, "failed", "failed", func(d *runtime.Description) bool { return d.Run.Status == journal.Failed })
	p := openRun(t, s, "runs/"+failed.String())
	p.act("Retry")
	p.preview("runs again")
	p.Click("dialog .again summary")
	p.AwaitText("dialog .again", "the card was declined")
	p.Accessible()
	p.Shoot("run-retry-preview")
	p.Fill(p.field("Reason"), "the card is mended")
	p.submit("Retry it")
	p.Await(`document.querySelector(".facts")?.innerText.includes("in generation 2")`)
	audited(t, s, failed, "retry", "the card is mended")
	clustertest.Described(t, s.Client, failed, "it has failed again", func(d *runtime.Description) bool { return d.Run.Status == journal.Failed })
	p.choose(".generations select", "1")
	p.Await(`location.search === "?generation=1" && ` + rowNames + `.startsWith("charge")`)
	p.AwaitText(".generations", "a branch that was left")
	p.Shoot("run-generations")

	id := startOrder(t, s, "open", "signal", parked)
	p.Go("runs/" + id.String())
	p.act("Give a step a result")
	p.Fill(p.field("Step"), "charge")
	p.Fill(p.field("Result"), `"another receipt"`)
	p.preview("charge would have another result")
	p.Shoot("run-edit")
	p.submit("Give it")
	p.Await(`document.querySelector(".facts")?.innerText.includes("in generation 2")`)
	clustertest.Described(t, s.Client, id, "it waits again", parked)

	p.Go("runs/" + id.String())
	p.Click(".item[data-kind=step]")
	p.AwaitText("#details", "another receipt")
	p.ClickText("Reset to before its outcome…")
	p.preview("runs again")
	// Whatever changes what is asked takes the preview away.
	p.Click("dialog details.options summary")
	p.Click(p.field("Keep children"))
	p.Await(`!document.querySelector("dialog .preview")`)
	p.preview("runs again")
	p.Shoot("run-reset")
	p.submit("Reset it")
	p.Await(`document.querySelector(".facts")?.innerText.includes("in generation 3")`)
	clustertest.Described(t, s.Client, id, "it waits again", parked)

	p.Allow("status of 409")
	p.act("Reset")
	p.choose(p.field("Point"), "event")
	p.Fill(p.field("Event"), "99")
	p.ClickText("Show what it would do")
	p.AwaitText("dialog .problem", "99")
	p.Accessible()
	p.Press(kb.Escape)

	p.act("Fork")
	p.Fill(p.field("Step"), "charge")
	p.Click("dialog details.options summary")
	p.Fill(p.field("Key of the fork"), "the fork")
	p.preview("The fork would begin with 1 event")
	p.Shoot("run-fork")
	p.submit("Fork it")
	p.AwaitText("h1", "the fork")
	fork, err := s.Client.FindKey(ctx, "the fork")
	if err != nil {
		t.Fatal(err)
	}
	p.act("Terminate")
	p.submit("Terminate it")
	p.word("terminated")
	clustertest.Described(t, s.Client, fork, "the fork is terminated", func(d *runtime.Description) bool { return d.Run.Status == journal.Terminated })

	// What becomes of a message is seen before.
	for _, err := range []error{s.Client.Pause(ctx, id, nil), runtime.Signal(ctx, s.Client, id, uitest.Paid, "early", nil)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	p.Go("runs/" + id.String())
	p.act("Fork")
	p.Fill(p.field("Step"), "charge")
	p.preview("1 message")
	p.Click("dialog .along summary")
	p.AwaitText("dialog .along", "signal paid message 1 comes again")
}

// TestRunAsked: queries, updates and signals, what refuses them, and a page that shows at once what
// comes of them.
func TestRunAsked(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	id := startOrder(t, s, "asked", "signal", parked)
	p := openRun(t, s, "runs/"+id.String()+"?tab=ask")
	p.Fill(p.field("Name"), "stage")
	p.Fill(p.field("Argument"), `""`)
	p.ClickText("Ask")
	p.AwaitText("[aria-label=Answer]", `"charged"`)
	p.Accessible()

	p.Click(".ask .choice:nth-of-type(2)")
	p.Fill(p.field("Name"), "redirect")
	p.Fill(p.field("Argument"), `"Lima`)
	p.AwaitText(".ask .wrong", "This is no JSON")
	p.Fill(p.field("Argument"), `"Lima"`)
	p.ClickText("Send and wait for the answer")
	p.AwaitText("[aria-label=Answer]", "true")
	p.Allow("status of 409")
	p.Fill(p.field("Argument"), `""`)
	p.ClickText("Send and wait for the answer")
	p.AwaitText(".problem", "an order needs an address")

	// From what it waits for to the signal.
	p.tab("")
	p.Click(".item[data-kind=wait]")
	p.ClickText("Send the signal…")
	p.Await(fmt.Sprintf(`document.querySelector(%q)?.value === "paid"`, p.field("Name")))
	p.Fill(p.field("Payload"), `"in cash"`)
	p.ClickText("Send")
	p.word("completed")
	p.tab("")
	p.Await(rowNames + `.includes("redirect|")`)
	if n := uitest.Eval[int](p.Page, `performance.getEntriesByType("resource").filter(e => /\/history/.test(e.name)).length`); n != 1 {
		t.Errorf("the history was read %d times: the stream has what comes", n)
	}
	p.tab("messages")
	p.AwaitText(".cards", "in cash")
	p.Shoot("run-taken")
}

// TestRunTakesChildrenAlong: a look at a retry names the children that would go on with the run.
func TestRunTakesChildrenAlong(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	ctx := clustertest.Context(t)
	order := startOrder(t, s, "sent", "child", func(d *runtime.Description) bool { return len(d.Waiting) > 0 })
	var customs journal.RunID
	clustertest.Until(t, "the child waits", func() bool {
		page, err := s.Client.List(ctx, journal.ListFilter{Parent: order})
		if err != nil || len(page.Runs) == 0 {
			return false
		}
		customs = page.Runs[0].ID
		return true
	})
	clustertest.Parked(t, s.Client, customs)
	if err := s.Client.Terminate(ctx, order, "by mistake"); err != nil {
		t.Fatal(err)
	}
	clustertest.Described(t, s.Client, customs, "it is cancelled", func(d *runtime.Description) bool { return d.Run.Status.Closed() })
	p := openRun(t, s, "runs/"+order.String())
	p.act("Retry")
	p.preview("1 run below it would go on first")
	p.Click("dialog .along summary")
	p.AwaitText("dialog .along", customs.String()[24:])
	p.Accessible()
	p.submit("Retry it")
	clustertest.Described(t, s.Client, customs, "it goes on", func(d *runtime.Description) bool { return !d.Run.Status.Closed() && d.Run.Generation == 2 })
}

// TestRunRights: what the dashboard or the actor may not do is not offered, a dry run is.
func TestRunRights(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, func(o *ui.Options) { o.API.ReadOnly = true })
	id := startOrder(t, s, "seen", "signal", parked)
	p := openRun(t, s, "runs/"+id.String())
	offers := `[...document.querySelectorAll(".head .actions button")].map(b => b.innerText.trim()).join("|")`
	p.Await(`document.querySelector(".menu-box > button")`)
	p.Click(".menu-box > button")
	p.Await(offers + ` === "More ▾|Reset (preview)…|Fork (preview)…|Give a step a result (preview)…"`)
	p.Shoot("run-read-only")
	p.ClickText("Reset (preview)…")
	p.Await(`document.querySelector("dialog[open]")`) // before that its fields take no focus
	p.Fill(p.field("Step"), "charge")
	p.preview("runs again")
	if uitest.Eval[int](p.Page, `document.querySelectorAll("dialog button[type=submit]").length`) != 0 {
		t.Error("a dashboard that only shows offers to reset")
	}
	p.Press(kb.Escape)
	p.tab("ask")
	p.Await(`[...document.querySelectorAll(".ask .choice")].map(l => l.innerText.trim()).join() === "Query"`)

	s = uitest.New(t, func(o *ui.Options) {
		o.API = api.Options{Node: o.API.Node, Allow: func(_ context.Context, _, verb string, _ *journal.Run) bool {
			return verb != "run terminate" && verb != "run reset" && verb != "run signal" && verb != "run set-labels"
		}}
	})
	id = startOrder(t, s, "allowed", "signal", parked)
	p = openRun(t, s, "runs/"+id.String())
	p.Await(`document.querySelector(".menu-box > button")`)
	p.Click(".menu-box > button")
	p.Await(offers + ` === "Pause…|Cancel…|More ▾|Fork…|Give a step a result…|Priority…|Resume…"`)
	p.tab("ask")
	p.Await(`[...document.querySelectorAll(".ask .choice")].map(l => l.innerText.trim()).join() === "Query,Update"`)
}

// TestRunByAnyName: a run is found by its key, whatever that is.
func TestRunByAnyName(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	p := openRun(t, s, "none")
	for _, key := range []string{"a/b", `with "quotes" 'and' spaces`, "🧑‍🚀 ü ?&=#%2F", "key=" + strings.Repeat("0123456789abcdef", 31) + "0123456789ab"} {
		run, err := runtime.Start(clustertest.Context(t), s.Client, workflow.Name[string, string]("nobody serves/this 'one'"), "x", &runtime.StartOptions{Key: key})
		id := clustertest.MustStart(t, run, err).ID()
		p.Go("runs/key=" + url.PathEscape(key))
		p.Await(fmt.Sprintf(`location.pathname.endsWith(%q)`, "/runs/"+id.String()))
		p.AwaitText(".why", "no live node serves workflow nobody serves/this 'one'")
		p.Shoot("run-named")
	}
}
