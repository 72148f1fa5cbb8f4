package ui_test

import (
	"fmt"
	"testing"

	"github.com/reprise-run/reprise/ui/uitest"
)

const set = `{"set": "shop7", "schedules": [
  {"name": "nightly", "cron": "30 2 * * *", "zone": "Europe/Berlin", "overlap": "allow", "note": "<b>books</b>", "start": {"workflow": "order", "input": {"fate": "completed"}}},
  {"name": "%s", "every": [{"every": "1h"}], "start": {"workflow": "order", "input": {"fate": "failed"}}}]}`

// TestSchedules: the life of a set of schedules.
func TestSchedules(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	p := uitest.Open(t, s, "schedules")
	see(p, "There are no schedules.")
	p.ClickText("Apply a set")
	apply := func(text string, changes ...string) {
		t.Helper()
		p.Await(`document.querySelector("textarea.large")`)
		uitest.Eval[bool](p, fmt.Sprintf(`(t => (t.value = %q, t.dispatchEvent(new InputEvent("input", {bubbles: true})), true))(document.querySelector("textarea.large"))`, text))
		act(p, "Compare")
		for _, c := range changes {
			see(p, c)
		}
		if len(changes) == 0 {
			return
		}
		p.Accessible()
		p.Shoot("set")
		act(p, "Apply")
		p.Await(`document.querySelector("h1").innerText === "Schedules"`)
	}
	apply(`{"schedules": [`)
	see(p, "The text is no JSON")
	apply(fmt.Sprintf(set, "hourly"), "nightly is new", "hourly is new", "0 schedules stay as they are")
	p.Await(`document.querySelectorAll('tbody [data-word="active"]').length === 2`)
	p.ClickText("Apply a set")
	apply(fmt.Sprintf(set, "daily"), "daily is new", "hourly is removed", "1 schedule stays as it is")
	p.Await(`document.querySelectorAll('tbody [data-word="active"]').length === 2 && document.querySelector("tbody").innerText.includes("daily")`)
	p.Accessible()
	p.Shoot("schedules")
	scheduleActions(p)
}

// scheduleActions does to one schedule all that can be done to one.
func scheduleActions(p *uitest.Page) {
	p.T.Helper()
	p.ClickText("shop7/nightly")
	p.Await(`document.querySelectorAll('table[aria-label="Next times"] tbody tr').length === 10`)
	act(p, "Pause")
	confirm(p, "Pause", "a holiday")
	see(p, "by anonymous over HTTP: a holiday")
	act(p, "Trigger")
	p.Await(`document.querySelector("dialog[open]")`)
	uitest.Eval[bool](p, `(s => (s.value = "allow", s.dispatchEvent(new Event("change", {bubbles: true})), true))(document.querySelector("dialog select"))`)
	p.Fill("dialog input", "k1")
	confirm(p, "Trigger", "")
	act(p, "Backfill")
	p.Await(`document.querySelector("dialog[open]")`)
	p.Fill("dialog .field:nth-of-type(1) input", "nonsense")
	p.Allow("status of 400")
	p.Click("dialog button[type=submit]")
	p.AwaitText("dialog .problem", "from")
	p.Fill("dialog .field:nth-of-type(1) input", "2026-06-01")
	p.Fill("dialog .field:nth-of-type(2) input", "2026-06-02T12:00:00Z")
	p.Click("dialog input[type=checkbox]")
	confirm(p, "Backfill", "")
	p.Await(`document.querySelectorAll('table[aria-label="Newest runs"] tbody tr').length === 3`)
	act(p, "Resume")
	confirm(p, "Resume", "")
	p.Await(`document.querySelector('.facts [data-word="active"]')`)
	p.Fill(".part input", "2027-03-27")
	p.Press("\r")
	see(p, "02:30 on 28 March 2027 does not exist, it runs at 03:30")
	p.Accessible()
	p.Shoot("schedule")
	act(p, "Delete")
	confirm(p, "Delete", "")
	p.Await(`document.querySelectorAll("tbody tr").length === 1`)
}

// TestScheduleTimes: what daylight saving does to a spec is said in words.
func TestScheduleTimes(t *testing.T) {
	t.Parallel()
	p := uitest.Open(t, uitest.Planted(t), "schedule-times")
	p.Fill("textarea", "30 2 * * *")
	p.Fill("[name=zone]", "Europe/Berlin")
	p.Fill("[name=after]", "2027-03-28T01:30:00Z")
	p.ClickText("Show its times")
	p.Await(`document.querySelectorAll("tbody tr").length === 20`)
	p.Go("schedule-times?cron=30+2+*+*+*&zone=Europe%2FBerlin&after=2027-03-27&gap=skip")
	see(p, "does not run.")
	p.Accessible()
	p.Shoot("times")
	p.Go("schedule-times?cron=30+2+*+*+*&zone=Berlin")
	p.Allow("status of 400")
	p.AwaitText(".problem", "Berlin")
}
