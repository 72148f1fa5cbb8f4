package ui_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/ui/uitest"
)

func focus(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).focus()`, selector))
}

// TestBulkJobs: how far jobs are is seen, and one is paused, resumed and aborted.
func TestBulkJobs(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	ctx := clustertest.Context(t)
	for i := range 3 {
		if _, err := runtime.Start(ctx, s.Client, uitest.Order, uitest.Fate{Fate: "signal"}, &runtime.StartOptions{Key: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	job, err := bulk.Start(ctx, s.Client, bulk.Job{Verb: bulk.Cancel, Where: `workflow = "order" and key is set`, Reason: "<b>shop</b> 7 has closed", Rate: 0.001}, &bulk.Options{Key: "close/shop 7"})
	if err != nil {
		t.Fatal(err)
	}
	p := uitest.Open(t, s, "bulk")
	see(p, "of 3 runs")
	p.Await(`document.querySelector("progress")?.max === 3`)
	p.Accessible()
	p.Shoot("bulk")
	p.ClickText("close/shop 7")
	see(p, "<b>shop</b> 7 has closed")
	act(p, "Pause")
	confirm(p, "Pause", "wait")
	p.Await(`document.querySelector('.facts [data-word="paused"]')`)
	act(p, "Resume")
	confirm(p, "Resume", "")
	p.Await(`document.querySelector('.facts [data-word="open"]')`)
	p.Accessible()
	p.Shoot("job")
	act(p, "Abort")
	confirm(p, "Abort", "a mistake")
	p.Await(`document.querySelector('.facts [data-word="cancelled"]')`)
	if e, err := s.Client.Why(ctx, job.ID()); err != nil || e.Run.ClosedAt.IsZero() {
		t.Errorf("the job is %+v (%v)", e, err)
	}
}

// TestFailuresOfAJob: a job of which many runs failed shows the first, and the others by page.
func TestFailuresOfAJob(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	ctx := clustertest.Context(t)
	for range 55 {
		if _, err := runtime.Start(ctx, s.Client, uitest.Order, uitest.Fate{Fate: "signal"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	job, err := bulk.Start(ctx, s.Client, bulk.Job{Verb: bulk.Edit, Step: "none", Where: `workflow = "order"`, Unproven: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := job.Result(ctx); err != nil {
		t.Fatal(err)
	}
	p := uitest.Open(t, s, "bulk/"+job.ID().String())
	see(p, "The first 20 that failed")
	p.ClickText("All that failed")
	p.Await(`document.querySelectorAll("tbody tr").length === 50`)
	p.Accessible()
	p.ClickText("More")
	p.Await(`document.querySelectorAll("tbody tr").length === 5`)
	p.ClickText("First page")
	p.Await(`document.querySelectorAll("tbody tr").length === 50`)
}

// TestAudit: what operators have done is found by who, what and on which run.
func TestAudit(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	ctx := clustertest.Context(t)
	run, err := runtime.Start(ctx, s.Client, uitest.Order, uitest.Fate{Fate: "signal"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		actor := runtime.WithActor(ctx, []string{"eva", "<i>bob</i>"}[i%2])
		if err := s.Client.SetLabels(actor, run.ID(), map[string]string{"n": fmt.Sprint(i)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Client.Terminate(runtime.WithActor(ctx, "eva"), run.ID(), uitest.Hostile); err != nil {
		t.Fatal(err)
	}
	p := uitest.Open(t, s, "audit")
	p.Await(`document.querySelectorAll("tbody tr").length === 50`)
	see(p, `<script>alert(2)</script> \u202e`)
	p.Accessible()
	p.Shoot("audit")
	p.ClickText("More")
	p.Await(`document.querySelectorAll("tbody tr").length === 61 && !document.querySelector(".more")`)
	p.Press("/")
	p.Await(`document.activeElement.name === "actor"`)
	p.Fill("[name=actor]", "<i>bob</i>")
	p.Press("\r")
	p.Await(`document.querySelectorAll("tbody tr").length === 30 && location.search.includes("actor=")`)
	p.Go("audit?verb=terminate&run=" + run.ID().String())
	p.Await(`document.querySelectorAll("tbody tr").length === 1 && document.querySelector("select[name=verb]").value === "terminate"`)
	p.Go("audit")
	p.Await(`document.querySelector("tbody tr")?.innerText.includes("terminate")`)
	if err := s.Client.SetLabels(ctx, run.ID(), map[string]string{"n": "last"}, nil); err != nil { // and the page hears of it
		t.Fatal(err)
	}
	p.Await(`document.querySelector("tbody tr")?.innerText.includes("set-labels")`)
}
