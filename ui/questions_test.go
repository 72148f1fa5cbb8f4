package ui_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/schedule"
	"github.com/reprise-run/reprise/runtime/schedule/calendar"
	"github.com/reprise-run/reprise/ui/uitest"
)

// asker looks for an answer from the first page on, and counts clicks.
type asker struct {
	*uitest.Page
	clicks int
}

func (a *asker) click(selector string) {
	a.T.Helper()
	a.clicks++
	a.Click(selector)
}

func (a *asker) clickText(text string) {
	a.T.Helper()
	a.clicks++
	a.ClickText(text)
}

// run goes to the page of a run that is among the newest.
func (a *asker) run(key string) {
	a.T.Helper()
	a.clickText("Runs")
	a.clickText(key)
	a.AwaitText("h1", key)
}

// questions are those of docs/dashboard.md, and how each is answered.
var questions = map[string]func(a *asker){
	"Why does this order not go on?": func(a *asker) {
		a.run("signal")
		a.AwaitText("main", "waits for signal paid")
		a.AwaitText("main", "send signal paid")
	},
	"What has it done, and when?": func(a *asker) {
		a.run("steps")
		a.Await(rowNames + `.includes("charge") && ` + rowNames + `.includes("pack")`)
	},
	"What fails since the deploy, with which error?": func(a *asker) {
		a.clickText("Failures")
		a.Await(`["errorString", "charge", "v1"].every(t => document.querySelector("main tbody")?.innerText.includes(t)) && document.querySelectorAll("main tbody time").length >= 2`)
	},
	"What would a reset run again?": func(a *asker) {
		a.run("steps")
		a.click(".item[data-kind=step]")
		a.clickText("Reset to before its outcome…")
		a.clickText("Show what it would do")
		a.AwaitText("dialog .preview", "runs again")
	},
	"Who has ended it, and why?": func(a *asker) {
		a.clickText("Audit")
		a.Await(`["terminate", "root@", "the customer does not exist"].every(t => document.querySelector("main tbody")?.innerText.includes(t))`)
	},
	"What is tonight's backlog?": func(a *asker) {
		a.clickText("Queues")
		a.Await(`[...document.querySelectorAll("main tbody tr")].some(r => r.querySelector("time") && r.innerText.includes("order"))`)
	},
	"What does no node serve?": func(a *asker) {
		a.clickText("Workflows")
		a.AwaitText("main tbody", "no node serves it")
	},
	"When does the schedule run next, and what does daylight saving do to it?": func(a *asker) {
		a.clickText("Schedules")
		a.clickText("spring")
		a.AwaitText("main", "does not exist, it runs at 03:30")
	},
	"How far is the bulk job, and what could it not do?": func(a *asker) {
		a.clickText("Bulk jobs")
		a.clickText("in vain")
		a.Await(`document.querySelector(".progress")?.innerText.includes("1 failed") && document.querySelector('table[aria-label="Failures"] tbody')?.innerText.includes("nothing")`)
	},
	"Retry all that failed with this error, knowing how many.": func(a *asker) {
		a.clickText("Failures")
		a.click(`tbody button[aria-label^="Retry"]`)
		a.clickText("Count the runs")
		a.clickText("retry 2 runs")
		a.AwaitText(".toast", "retry 2 runs")
	},
}

// TestTenQuestions: each question is answered, with as many clicks as docs/dashboard.md says.
func TestTenQuestions(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/dashboard.md")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([^|]*[?.]) \| (\d+): `).FindAllStringSubmatch(string(text), -1) {
		said[m[1]], _ = strconv.Atoi(m[2])
	}
	s := uitest.New(t, nil)
	s.Plant(t)
	s.Applied(t, schedule.Set{Schedules: []schedule.Schedule{{
		Name: "spring", Spec: calendar.Spec{Cron: []string{"30 2 28 3 *"}, Zone: "Europe/Berlin"}, // of 2027, when the clock is set
		Start: schedule.StartOf(uitest.Order, uitest.Fate{Fate: "completed"}),
	}}})
	ctx := clustertest.Context(t)
	job, err := bulk.Start(ctx, s.Client, bulk.Job{Verb: bulk.Reset, Where: `key = "steps"`, To: "step:nothing"}, &bulk.Options{Key: "in vain"})
	if err == nil {
		_, err = job.Result(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := uitest.Open(t, s, "")
	for question, answer := range questions {
		p.Go("")
		p.Await(`document.querySelector(".figures")`)
		a := &asker{Page: p}
		answer(a)
		if n, ok := said[question]; !ok || n != a.clicks {
			t.Errorf("%s takes %d clicks; docs/dashboard.md says %s", question, a.clicks, map[bool]string{true: fmt.Sprint(n), false: "nothing"}[ok])
		}
	}
	for question := range said {
		if questions[question] == nil {
			t.Errorf("docs/dashboard.md says how many clicks answer %q, and nobody has counted", question)
		}
	}
}
