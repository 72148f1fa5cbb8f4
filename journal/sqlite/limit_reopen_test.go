package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// TestRunsHoldLimitsOverProcesses: what runs hold of limits, and their places, outlive the process;
// what its steps held is free.
func TestRunsHoldLimitsOverProcesses(t *testing.T) {
	t.Parallel()
	path, ctx := filepath.Join(t.TempDir(), "reprise.db"), t.Context()
	s := open(t, path, nil)
	j := driver.New(s, nil)
	set := func(l journal.Limit) {
		t.Helper()
		if _, err := j.Admin(ctx, driver.AdminAction{Kind: driver.AdminSetLimit, Limit: &l}); err != nil {
			t.Fatal(err)
		}
	}
	start := func(name, key string) {
		t.Helper()
		out, err := j.Start(ctx, nil, []journal.Start{{Workflow: "flow", Limits: []journal.LimitNeed{{Name: name, Key: key}}}})
		if err != nil || out[0].Err != nil {
			t.Fatal(err, out)
		}
	}
	node := func() driver.Membership {
		t.Helper()
		m, err := j.Join(ctx, journal.Node{Name: "n", Routes: []journal.Route{{Queue: journal.DefaultQueue, Workflow: "flow", Version: 1}}, Lease: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	begun := func(m driver.Membership, r driver.LimitRound, want int) {
		t.Helper()
		if a, err := m.Limits(ctx, r); err != nil || a.Runs+len(a.Granted) != want {
			t.Errorf("%d begin, %v, want %d", a.Runs+len(a.Granted), err, want)
		}
	}
	lines := func(want ...journal.LimitUse) {
		t.Helper()
		page, err := j.Limits(ctx, journal.LimitFilter{Uses: 10})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, page.Uses); diff != "" {
			t.Errorf("lines (-want +got):\n%s", diff)
		}
	}
	set(journal.Limit{Name: "a", Concurrency: 1})
	set(journal.Limit{Name: "b", Total: 1, Weight: 4})
	m, runs := node(), driver.LimitRound{Runs: true}
	for _, need := range [][2]string{{"a", ""}, {"a", ""}, {"b", "x"}, {"b", "y"}} {
		start(need[0], need[1])
	}
	begun(m, runs, 2)
	step := driver.Want{ID: 1, Run: journal.NewRunID(), Step: "s", Priority: 3, Since: j.Now(), Needs: []journal.LimitNeed{{Name: "c"}}}
	begun(m, driver.LimitRound{Wants: []driver.Want{step}}, 1)
	start("b", "x") // no round sees it
	s.Close()

	s = open(t, path, nil)
	j = driver.New(s, nil)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var share float64 // of the Total, what a key holds for each of its weight
	if err := db.QueryRowContext(ctx, "SELECT share FROM reprise_limit_lines WHERE name = 'b' AND key = 'x'").Scan(&share); err != nil || share != 0.25 {
		t.Errorf("the key that holds one of a limit of weight 4 has the share %v, %v", share, err)
	}
	lines(journal.LimitUse{Name: "a", Held: 1, Waiting: 1}, journal.LimitUse{Name: "b", Key: "y", Waiting: 1}, journal.LimitUse{Name: "b", Key: "x", Held: 1})
	m = node()
	set(journal.Limit{Name: "a", Concurrency: 2})
	begun(m, runs, 1)
	lines(journal.LimitUse{Name: "b", Key: "x", Held: 1, Waiting: 1}, journal.LimitUse{Name: "b", Key: "y", Waiting: 1}, journal.LimitUse{Name: "a", Held: 2})
}
