package ui_test

import (
	"testing"

	"github.com/reprise-run/reprise/ui/uitest"
)

// TestOverview: what happened and what stands still is there, as a picture, in numbers and as links.
func TestOverview(t *testing.T) {
	t.Parallel()
	p := uitest.Open(t, uitest.Planted(t), "")
	p.Await(`document.querySelectorAll(".figures li").length === 5`)
	p.Await(`[...document.querySelectorAll("tbody tr")].some(r => r.innerText.startsWith("order"))`)
	// The blocked run is tried again now and then, and is not blocked for that moment.
	p.Await(`[...document.querySelectorAll(".figures a")].map(a => a.innerText.replace(/\s+/g, " ").trim()).join(", ") === ` +
		`"9 Open, 2 Failed, 1 Blocked, 1 Paused, 1 Wait for a node"`)
	bars := uitest.Eval[int](p, `document.querySelectorAll(".bars rect.started, .bars rect.failed").length`)
	if bars < 2 {
		t.Errorf("the picture has %d bars", bars)
	}
	p.Accessible()
	p.Shoot("overview")
	p.ClickText("1h")
	p.Await(`location.search === "?window=1h" && document.querySelectorAll(".bars svg g").length >= 60`)
	p.ClickText("As a table")
	p.Await(`document.querySelector(".bars details").open && document.querySelectorAll(".bars tbody tr").length >= 60`)
	p.ClickText("1 Blocked")
	p.Await(`location.pathname.endsWith("/runs") && document.querySelectorAll("tbody tr").length === 1`)
}

// TestFailures: failures are in kinds, lead to their runs, and are retried from there.
func TestFailures(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	s.Plant(t)
	p := uitest.Open(t, s, "failures")
	p.Await(`document.querySelectorAll("tbody tr").length >= 2`)
	see(p, "<script>alert(2)</script>")
	see(p, "charge")
	p.Accessible()
	p.Shoot("failures")
	p.Press("/")
	p.Await(`document.activeElement.matches("[data-filter]")`)
	p.Fill("[data-filter]", "workflow = nonsense")
	p.Allow("status of 400")
	p.Press("\r")
	p.AwaitText(".wrong", "column")
	p.ClickText("1 day")
	p.Await(`document.querySelectorAll("tbody tr").length === 1`) // a blocked run has not ended
	label := uitest.Eval[string](p, `document.querySelector('tbody button').ariaLabel`)
	act(p, label)
	p.Await(`document.querySelector("dialog select")?.value === "retry"`)
	p.ClickText("Count the runs")
	p.AwaitText("dialog .verdict", "2 runs")
	p.Accessible()
	p.Click("dialog button[type=submit]")
	p.Click(".toast a")
	p.AwaitText("h1", "Bulk job retry")
	see(p, "2 of 2 runs")
	p.Go("failures")
	p.Await(`document.querySelector("tbody tr")`)
	if href := uitest.Eval[string](p, `new URL(document.querySelector("tbody a").href).searchParams.get("where")`); href != `workflow = "order" and status = failed and error.class = "*errors.errorString"` {
		t.Errorf("the kind leads to the runs with %s", href)
	}
	p.Click("tbody a")
	p.Await(`location.pathname.endsWith("/runs") && document.querySelectorAll("tbody tr").length > 0`)
}
