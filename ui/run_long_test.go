package ui_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/reprise-run/reprise/ui/uitest"
)

var (
	longEvents = flag.Int("long", 5_000, "events of the long history; bench/results has figures of 50,000")
	measures   = flag.Bool("long-again", false, "load the page of the long history twice before times are told")
)

// TestRunLong: of a long history only what is in sight is on the page, and all of it is found.
func TestRunLong(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	id := s.PlantLong(t, "long", *longEvents)
	p := openRun(t, s, "runs/"+id.String())
	p.Await(fmt.Sprintf(treeRows+` === "%d"`, *longEvents+7))
	if *measures { // a browser that has compiled the script, as that of somebody who has the dashboard open
		p.Go("runs/" + id.String())
		p.Await(fmt.Sprintf(treeRows+` === "%d"`, *longEvents+7))
	}
	t.Logf("%d events: first paint and all there after %s ms, %s MB of script's memory", *longEvents,
		uitest.Eval[string](p.Page, `[performance.getEntriesByName("first-contentful-paint")[0]?.startTime, performance.now()].map(Math.round).join(" and ")`),
		uitest.Eval[string](p.Page, `String(Math.round(performance.memory.usedJSHeapSize / 1e6))`))
	if n := uitest.Eval[int](p.Page, `document.querySelectorAll("[role=treeitem]").length`); n < 20 || n > 60 {
		t.Errorf("%d rows are on the page", n)
	}
	p.Accessible()
	p.Shoot("run-long")
	t.Logf("a jump to the end of the rows and back takes %s ms, lanes %s", p.frames(`p = document.querySelector(".windowed"); p.scrollTop = p.scrollHeight`, `p.scrollTop = 0`),
		p.frames(`document.querySelectorAll(".waterfall .end input")[0].click()`, `document.querySelectorAll(".waterfall .end input")[0].click()`))
	p.Do(focusOn(".windowed[role=tree]"))
	p.Press(kb.End)
	p.Await(fmt.Sprintf(`document.querySelector("[role=treeitem][aria-selected=true]")?.ariaPosInSet === "%d"`, *longEvents+7))
	p.AwaitText("#details", "goes on")
	p.Press("+++")
	p.Await(fmt.Sprintf(`document.querySelector(".strip .seen") && Number(`+treeRows+`) < %d`, *longEvents/4))
	p.Press("0")
	p.Click(".kinds label:last-child input")
	p.Await(fmt.Sprintf(treeRows+` === "%d"`, *longEvents/100))
	p.Await(`[...document.querySelectorAll("[role=treeitem]")].every(r => r.dataset.state === "failed" && r.innerText.includes("×3"))`)

	p.tab("history")
	for _, e := range []struct{ seq, shows string }{
		{"2", "The codec does not decode these bytes of encoding application/x-picture"},
		{"3", `\u202egnp.exe`},
		{"3", `"large": 12345678901234567890`},
		{"3", `"no number": "\": 12345678901234567890,"`},
		{"3", `</pre><script>alert(4)</script>`},
		{"4", "Show all 2,09"},
	} {
		p.Fill(".history input[type=search]", e.seq)
		p.Await(`document.querySelectorAll(".event").length === 1`)
		p.Click(".event")
		p.AwaitText("#details", e.shows)
	}
	p.ClickText("Show all 2,097,146 characters")
	p.Await(`document.querySelector("#details pre").innerText.length > 2000000`)
	if n := uitest.Eval[int](p.Page, `document.querySelectorAll("main script, main i, main b").length`); n != 0 {
		t.Errorf("%d elements have been made of a text", n)
	}
	p.Fill(".history input[type=search]", "stepfailed")
	p.Await(fmt.Sprintf(`document.querySelector("[role=listbox]").dataset.count === "%d"`, *longEvents/100))
}

// frames is how long the browser takes to do something and to draw what comes of it, twice.
func (p runPage) frames(there, back string) string {
	p.T.Helper()
	drawn := func(act string) int {
		return uitest.Eval[int](p.Page, fmt.Sprintf(`new Promise(done => { const t = performance.now(); %s; requestAnimationFrame(() => setTimeout(() => done(Math.round(performance.now() - t)))) })`, act))
	}
	return fmt.Sprintf("%d and %d", drawn(there), drawn(back))
}

// TestRunChildren: of very many children one sees how many there are, and reads them page by page.
func TestRunChildren(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	id := s.PlantLong(t, "parent", 10)
	s.PlantChildren(t, id, 10_000)
	p := openRun(t, s, "runs/"+id.String()+"?tab=children")
	p.AwaitText(".tree [role=status]", "10,000 children")
	p.Await(`document.querySelectorAll(".tree .child").length === 100 && document.querySelector(".tree .child a.run")`)
	act(p.Page, "Show more than 100") // the rows above it may still grow, and it would be elsewhere
	p.Await(`document.querySelectorAll(".tree .child").length === 200`)
	p.choose(".tree select", "failed")
	p.AwaitText(".empty", "No child is like this.")
}
