package postgres_test

import (
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A run that waits is terminated and reset while a round has read its claim: the round grants what
// has ended, and the run waits for its new claim (J14).
func TestARunOpenedAgainDoesNotBeginByItsOldClaim(t *testing.T) {
	w := newAppendWorld(t)
	admin := func(a driver.AdminAction) {
		t.Helper()
		if _, err := w.j.Admin(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	admin(driver.AdminAction{Kind: driver.AdminSetLimit, Limit: &journal.Limit{Name: "l", Concurrency: 1}})
	st := journal.Start{Workflow: "flow"}
	st.Limits = []journal.LimitNeed{{Name: "l", Cost: 1}}
	out, err := w.j.Start(t.Context(), nil, []journal.Start{st})
	if err != nil || out[0].Err != nil {
		t.Fatal(err, out[0].Err)
	}
	run := out[0].Run
	round := driver.LimitRound{Runs: true, Look: []driver.LimitKey{{Name: "l"}}}
	round.Late = func(*driver.LimitRound) {
		admin(driver.AdminAction{Run: run, Kind: driver.AdminTerminate, Reason: "no"})
		h, err := w.j.Load(t.Context(), []driver.LoadRequest{{Run: run}})
		if err != nil {
			t.Fatal(err)
		}
		admin(driver.AdminAction{Run: run, Kind: driver.AdminReset, Rewind: driver.NewRewind(&h[0].Run, h[0].Events, 0, true)})
	}
	if _, err := w.m.Limits(t.Context(), round); err != nil {
		t.Fatal(err)
	}
	const state = "SELECT state::int FROM reprise.tasks WHERE run_id = $1"
	if got := query[int](t, w.conn, state, run.String()); journal.TaskState(got) != journal.Limited {
		t.Errorf("the run is in state %d behind a round that granted its old claim", got)
	}
	for n := 0; query[int](t, w.conn, state, run.String()) != int(journal.Ready); n++ {
		if n == 3 {
			t.Fatal("the run does not begin by its new claim")
		}
		if _, err := w.m.Limits(t.Context(), driver.LimitRound{Runs: true}); err != nil {
			t.Fatal(err)
		}
	}
	if held := query[int](t, w.conn, "SELECT held::int FROM reprise.limit_lines WHERE name = 'l' AND key = ''"); held != 1 {
		t.Errorf("%d places are held by one run", held)
	}
}
