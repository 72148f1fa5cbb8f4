package ui_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/ui/uitest"
)

// rows is how many runs a page lists.
const rows = `document.querySelectorAll("tbody tr").length`

// TestRuns: every planted run is listed, hostile texts are texts, and the page is for everybody.
func TestRuns(t *testing.T) {
	t.Parallel()
	p := uitest.Open(t, uitest.Planted(t), "runs")
	p.Await(rows + ` >= 15`)
	p.AwaitText("tbody", "the card was declined")
	p.AwaitText("tbody", `<script>alert(2)</script> \u202egnp.exe \u0007`)
	p.AwaitText(".head", "15")
	p.AwaitText(".live", "live")
	if n := uitest.Eval[int](p, `document.querySelectorAll("main script, main img").length`); n != 0 {
		t.Errorf("%d elements have been made of a text", n)
	}
	p.Accessible()
	p.Shoot("runs")
}

// TestFilter: what one types is completed from the language and the store, is part of the address,
// and what is wrong with it is said.
func TestFilter(t *testing.T) {
	t.Parallel()
	p := uitest.Open(t, uitest.Planted(t), "runs")
	p.Allow("status of 400")
	p.Await(rows + ` >= 15`)
	p.Press("/")
	p.Await(`document.activeElement.matches("[data-filter]")`)
	offers := `[...document.querySelectorAll("[role=option]:not([hidden] *) code")].map(e => e.innerText).join("|")`
	for _, s := range []struct{ keys, want string }{
		{"wor", "workflow"},
		{kb.ArrowDown + kb.Enter, "="}, // takes the field
		{"=", `"asker"`},               // a workflow that a node serves: what is known has come
		{kb.ArrowDown, `"order"`},
		{kb.ArrowUp, `"asker"`},
		{kb.ArrowDown + kb.ArrowDown, `"customs"`},
	} {
		p.Press(s.keys)
		p.Await(offers + fmt.Sprintf(`.includes(%q)`, s.want))
	}
	if is := uitest.Eval[string](p, `document.querySelector("[role=option][aria-selected=true] code").innerText`); is != `"customs"` {
		t.Errorf("the offer is %s", is)
	}
	p.Accessible()
	p.Shoot("runs-filter")
	p.Press(kb.Tab)
	p.Await(`document.querySelector("[data-filter]").value === 'workflow = "customs" '`)
	p.Press(kb.Escape + kb.Enter)
	p.Await(rows + ` === 1 && location.search === "?where=" + encodeURIComponent('workflow = "customs"').replaceAll("%20", "+")`)

	p.Fill("[data-filter]", `region = "de" and st`)
	p.Await(offers + `.startsWith("status|started")`)
	p.Press(kb.Escape)
	p.Fill("[data-filter]", `status in (fai`)
	p.Await(offers + ` === "failed"`)
	p.Press(kb.Escape)
	p.Fill("[data-filter]", `label.region = `)
	p.Await(offers + ` === '"de"|"fr"|"pe"'`)
	p.Press(kb.Escape)

	p.Fill("[data-filter]", `status = nonsense`)
	p.Press(kb.Enter)
	p.AwaitText(".combo .wrong", "nonsense")
	p.Await(`document.querySelector("[data-filter]").getAttribute("aria-invalid") === "true" && !document.querySelector("table")`)
	p.Accessible()
	p.Fill("[data-filter]", `key = "there is none"`)
	p.Press(kb.Enter)
	p.AwaitText(".empty", "No run is like this.")
	p.Accessible()
	p.Shoot("runs-none")
	p.ClickText("Stand still")
	p.Await(rows + ` === 2`)
	p.Do(back)
	p.AwaitText(".empty", "No run is like this.")
}

// TestColumns: columns and orders are chosen, stay in the address, and columns in the browser.
func TestColumns(t *testing.T) {
	t.Parallel()
	p := uitest.Open(t, uitest.Planted(t), "runs?where=status+%3D+failed")
	p.Await(rows + ` === 2`)
	p.Click("details.dropdown summary")
	heads := `[...document.querySelectorAll("th[scope=col]")].map(e => e.innerText).join("|")`
	p.Click(`//label[.="Queue"]`)
	p.Click(`//label[.="region"]`)
	p.Click(`//label[.="Started"]`)
	p.Await(heads + ` === "Run|Status|Workflow|Took|About|Queue|region"`)
	p.Accessible()
	p.Shoot("runs-columns")
	p.Press(kb.Escape)
	p.Await(`!document.querySelector("details.dropdown").open && document.activeElement.innerText === "Columns"`)
	p.Go("runs?where=status+%3D+failed")
	p.Await(heads + ` === "Run|Status|Workflow|Took|About|Queue|region"`)
	p.Go("runs?where=status+%3D+failed&columns=run,created,label.a%252Cb")
	p.Await(heads + ` === "Run|Started ↓|a,b"`)
	p.Await(rows + ` === 2`)
	newest := uitest.Eval[string](p, `document.querySelector("tbody tr").dataset.key`)
	p.ClickText("Started ↓")
	p.Await(`document.querySelector("[data-filter]").value === "status = failed order by created asc" && document.querySelector("th[aria-sort=ascending]")?.innerText.startsWith("Started")`)
	p.Await(fmt.Sprintf(`document.querySelector("tbody tr").dataset.key !== %q`, newest))
	p.ClickText("Started ↑")
	p.Await(fmt.Sprintf(`document.querySelector("[data-filter]").value === "status = failed" && document.querySelector("tbody tr").dataset.key === %q`, newest))
}

// TestRunsArePaged: a list goes on behind its page, and is as things are now.
func TestRunsArePaged(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	ctx := clustertest.Context(t)
	var last journal.RunID
	for range 120 {
		run, err := runtime.Start(ctx, s.Client, uitest.Customs, "Lima", nil)
		last = clustertest.MustStart(t, run, err).ID()
	}
	p := uitest.Open(t, s, "runs")
	p.Await(rows + ` === 50`)
	p.ClickText("More")
	p.Await(rows + ` === 100`)
	p.ClickText("More")
	p.Await(rows + ` === 120 && !document.querySelector(".more")`)
	p.AwaitText(".head", "120")
	p.AwaitText(".live", "live")
	if err := runtime.Signal(ctx, s.Client, last, uitest.Cleared, "ok", nil); err != nil {
		t.Fatal(err)
	}
	p.AwaitText("tbody tr:first-child", "completed")
	if _, err := runtime.Start(ctx, s.Client, uitest.Customs, "Quito", &runtime.StartOptions{Key: "the newest"}); err != nil {
		t.Fatal(err)
	}
	p.AwaitText("tbody tr:first-child", "the newest")
	p.Await(rows + ` === 121`)
	if n := uitest.Eval[int](p, `new Set([...document.querySelectorAll("tbody tr")].map(r => r.dataset.key)).size`); n != 121 {
		t.Errorf("%d runs are listed", n)
	}
	// By another order a new run stands somewhere else.
	p.Go("runs?where=" + strings.ReplaceAll(`workflow = "customs" order by created asc`, " ", "+"))
	p.Await(rows + ` === 50`)
	p.AwaitText(".live", "live")
	p.Hide(true)
	p.AwaitText(".live", "rests")
	if err := s.Client.Terminate(ctx, last, ""); err == nil {
		t.Error("a run that has completed was terminated")
	}
	p.Hide(false)
	p.AwaitText(".live", "live")
}

// TestBulk: runs are chosen with the keyboard, counted, and a job does something to them.
func TestBulk(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	p := uitest.Open(t, s, "runs")
	p.Allow("status of 400")
	p.AwaitText(".empty", "There are no runs yet.")
	ctx := clustertest.Context(t)
	for i := range 3 {
		run, err := runtime.Start(ctx, s.Client, uitest.Customs, "Lima", &runtime.StartOptions{Key: fmt.Sprint("parcel ", i)})
		clustertest.MustStart(t, run, err)
	}
	p.Await(rows + ` === 3`) // by the stream
	p.Press("jx")
	p.Press("jx")
	p.AwaitText(".bulk", "2 runs chosen")
	p.Press("b")
	p.Await(`document.querySelector("dialog[open]")`)
	p.Accessible()
	p.Do(choose("dialog select", "reset"))
	p.Fill("dialog input", "nowhere")
	p.ClickText("Count the runs")
	p.AwaitText("dialog .problem", "nowhere")
	p.Shoot("bulk-problem")
	p.Do(choose("dialog select", "terminate"))
	p.ClickText("Count the runs")
	p.AwaitText("dialog .verdict", "would act on 2 runs")
	p.Accessible()
	p.Shoot("bulk")
	p.ClickText("terminate 2 runs")
	p.AwaitText(".toast", "terminate 2 runs")
	p.Await(`[...document.querySelectorAll("tbody .badge")].filter(b => b.innerText.includes("terminated")).length === 2`)
	p.ClickText("Failed today")
	p.AwaitText(".empty", "No run is like this.")
	p.Fill("[data-filter]", `workflow = "customs" and status = open`)
	p.Press(kb.Escape + kb.Enter)
	p.ClickText("Do something to all 1…")
	p.Do(choose("dialog select", "set-labels"))
	p.Fill("dialog textarea", "checked=yes")
	p.ClickText("Count the runs")
	p.ClickText("set-labels 1 run")
	p.Await(`document.querySelectorAll("dialog").length === 0`)
	clustertest.Until(t, "the label is set", func() bool {
		n, _, err := s.Client.Count(ctx, journal.ListFilter{Where: "checked = \"yes\""}, 10)
		return err == nil && n == 1
	})
}

// TestStart: a run is started from a form, whose mistakes are told where they are made.
func TestStart(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	p := uitest.Open(t, s, "runs")
	p.Allow("status of 400")
	p.AwaitText(".empty", "There are no runs yet.")
	p.Press("n")
	p.Await(`document.querySelector("dialog[open]") && document.querySelector("datalist option[value=customs]")`)
	p.Accessible()
	p.Shoot("start")
	field := func(label string) string {
		return fmt.Sprintf(`//dialog//label[.=%q]/following-sibling::*[1]`, label)
	}
	p.Fill(field("Workflow"), "customs")
	p.Click("dialog .typed > .check input") // as JSON
	p.Await(`document.querySelector("dialog .typed textarea:not(.text)")`)
	p.Fill(field("Input"), `Lima`)
	p.ClickText("Start")
	p.AwaitText("dialog .wrong", "This is no JSON")
	p.Await(`document.activeElement.ariaInvalid === "true"`)
	p.Fill(field("Labels"), "region")
	p.Fill(field("Input"), `"Lima 12345678901234567890"`)
	p.Fill(field("Key"), "a/b 'c' \"d\" 🧑‍🚀")
	p.ClickText("Start")
	p.AwaitText("dialog .problem", "is not name=value")
	p.Fill(field("Labels"), "region=de")
	p.ClickText("Start")
	p.AwaitText(".toast", "Started")
	p.AwaitText("tbody tr", `a/b 'c' "d" 🧑‍🚀`)
	run, err := s.Client.FindKey(clustertest.Context(t), "a/b 'c' \"d\" 🧑‍🚀")
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.Client.Describe(clustertest.Context(t), run)
	if err != nil || d.Run.Labels["region"] != "de" {
		t.Errorf("the run is %+v, %v", d, err)
	}
	p.Press("n")
	p.Await(`document.querySelector("dialog[open]")`)
	p.Press(kb.Escape)
	p.Await(`document.querySelectorAll("dialog").length === 0`)
}
