package sqlite

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

func openHere(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "reprise.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// script runs statements on the writer's connection, between two batches.
func script(t *testing.T, s *Store, sql string) {
	t.Helper()
	l, err := s.writer.borrow(t.Context(), s.life)
	if err != nil {
		t.Fatal(err)
	}
	defer close(l.returned)
	if err := s.writer.c.script(sql); err != nil {
		t.Fatal(err)
	}
}

func startOf(workflow string) journal.Start {
	return journal.Start{ID: journal.NewRunID(), Workflow: workflow, Version: 1, Queue: "q", Priority: 3,
		Input: journal.Payload{Data: []byte(strings.Repeat("x", 2000))}}
}

// together holds the writer back until all calls wait for it, so that they are one batch.
func together(t *testing.T, s *Store, calls ...func() error) []error {
	t.Helper()
	l, err := s.writer.borrow(t.Context(), s.life)
	if err != nil {
		t.Fatal(err)
	}
	errs := make([]error, len(calls))
	var work sync.WaitGroup
	for i, call := range calls {
		work.Go(func() { errs[i] = call() })
	}
	for waiting := 0; waiting < len(calls); {
		s.writer.mu.Lock()
		waiting = len(s.writer.jobs)
		s.writer.mu.Unlock()
	}
	close(l.returned)
	work.Wait()
	return errs
}

// TestJ2_OneCallAtFaultHindersNoOther: calls of one batch, of which one meets an error of the file.
func TestJ2_OneCallAtFaultHindersNoOther(t *testing.T) {
	t.Parallel()
	s := openHere(t)
	script(t, s, `CREATE TRIGGER no_evil BEFORE INSERT ON reprise_tasks WHEN NEW.workflow = 'evil' BEGIN SELECT raise(ABORT, 'no'); END`)
	call := func(workflow string) func() error {
		return func() error {
			_, err := s.Start(context.Background(), nil, []journal.Start{startOf(workflow)})
			return err
		}
	}
	errs := together(t, s, call("good"), call("evil"), call("good"), func() error {
		_, err := s.Admin(context.Background(), driver.AdminAction{Run: journal.NewRunID(), Kind: driver.AdminResume})
		return err
	}, call("good"))
	for i, err := range errs {
		switch {
		case i == 1 && (err == nil || !strings.Contains(err.Error(), s.path)):
			t.Errorf("the call at fault got %v", err)
		case i == 3 && !errors.Is(err, journal.ErrNotFound):
			t.Errorf("a call that finds nothing got %v", err)
		case i != 1 && i != 3 && err != nil:
			t.Errorf("a bystander got %v", err)
		}
	}
	page, err := s.List(t.Context(), journal.ListFilter{})
	if err != nil || len(page.Runs) != 3 {
		t.Errorf("%d runs, %v, want the 3 good ones", len(page.Runs), err)
	}
}

// TestJ2_OneMemberAtFaultHindersNoOther: commits of one call, of which one is refused by the file
// half-way.
func TestJ2_OneMemberAtFaultHindersNoOther(t *testing.T) {
	t.Parallel()
	s := openHere(t)
	script(t, s, `CREATE TRIGGER no_evil BEFORE INSERT ON reprise_events WHEN NEW.name = 'evil' BEGIN SELECT raise(ABORT, 'no'); END`)
	m, err := s.Join(t.Context(), journal.Node{Name: "n", Lease: 1e12})
	if err != nil {
		t.Fatal(err)
	}
	var commits []driver.Commit
	for i := range 5 {
		st := startOf("good")
		st.Owner = m.ID()
		if _, err := s.Start(t.Context(), nil, []journal.Start{st}); err != nil {
			t.Fatal(err)
		}
		name := map[bool]string{true: "evil", false: "good"}[i == 2]
		commits = append(commits, First(st.ID, m.ID(), st.Input, driver.Next{},
			journal.Event{Kind: journal.RunStarted}, journal.Event{Kind: journal.StepCompleted, Name: name}))
	}
	out, err := s.Commit(t.Context(), commits)
	if err != nil {
		t.Fatal(err)
	}
	for i := range out {
		if (out[i].Err != nil) != (i == 2) {
			t.Errorf("member %d: %v", i, out[i].Err)
		}
		list, err := s.Load(t.Context(), []driver.LoadRequest{{Run: commits[i].Run}})
		if err != nil {
			t.Fatal(err)
		}
		if h := list[0]; len(h.Events) != map[bool]int{true: 0, false: 2}[i == 2] || (h.Run.Task.Turn == 0) != (i == 2) {
			t.Errorf("member %d left %d events and turn %d", i, len(h.Events), h.Run.Task.Turn)
		}
	}
}

// TestFullAndReadOnly: what cannot be written is refused as unavailable, what was acknowledged
// stays, and work goes on as soon as it can.
func TestFullAndReadOnly(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct{ begin, end, says string }{
		"the disk is full":      {`PRAGMA max_page_count = 300`, `PRAGMA max_page_count = 1000000`, "disk is full"},
		"the file is read-only": {`PRAGMA query_only = on`, `PRAGMA query_only = off`, "may not be written"},
	} {
		s := openHere(t)
		acked := 0
		start := func() error {
			batch := []journal.Start{startOf("w"), startOf("w"), startOf("w")}
			out, err := s.Start(t.Context(), nil, batch)
			for i := range out {
				if out[i].Err == nil {
					acked++
				}
			}
			return err
		}
		if err := start(); err != nil {
			t.Fatal(err)
		}
		script(t, s, c.begin)
		var err error
		for n := 0; err == nil && n < 1000; n++ {
			err = start()
		}
		if !errors.Is(err, journal.ErrUnavailable) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), s.path) {
			t.Errorf("%s: got %v", what, err)
		}
		page, listErr := s.List(t.Context(), journal.ListFilter{Limit: journal.ListMax})
		if listErr != nil || len(page.Runs) != acked {
			t.Errorf("%s: %d runs, %v, acknowledged were %d", what, len(page.Runs), listErr, acked)
		}
		script(t, s, c.end)
		if err := start(); err != nil {
			t.Errorf("after %s: %v", what, err)
		}
	}
}

// TestCallsAreGathered: calls that wait together are one batch, and a batch ends where its payloads
// are enough.
func TestCallsAreGathered(t *testing.T) {
	t.Parallel()
	s := openHere(t)
	var mu sync.Mutex
	sizes := map[*batch]int{}
	call := func(bytes int) func() error {
		return func() error {
			return s.write(context.Background(), bytes, func(b *batch) error {
				mu.Lock()
				defer mu.Unlock()
				sizes[b]++
				return nil
			})
		}
	}
	calls := slices.Repeat([]func() error{call(0)}, 50)
	if err := errors.Join(together(t, s, calls...)...); err != nil {
		t.Fatal(err)
	}
	if len(sizes) != 1 {
		t.Errorf("50 calls were written in batches of %v", slices.Collect(maps.Values(sizes)))
	}
	clear(sizes)
	calls = slices.Repeat([]func() error{call(batchBytes / 2)}, 6)
	if err := errors.Join(together(t, s, calls...)...); err != nil {
		t.Fatal(err)
	}
	if len(sizes) != 3 {
		t.Errorf("6 large calls were written in batches of %v", slices.Collect(maps.Values(sizes)))
	}
}

// TestDurabilityIsSet: the settings on which J10 rests are those of the connection that writes.
func TestDurabilityIsSet(t *testing.T) {
	t.Parallel()
	for normal, want := range map[bool]int64{false: 2, true: 1} {
		s, err := Open(t.Context(), filepath.Join(t.TempDir(), "reprise.db"), &Options{SyncNormal: normal})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		err = s.write(t.Context(), 0, func(b *batch) error {
			for pragma, want := range map[string]int64{"synchronous": want, "fullfsync": 1, "checkpoint_fullfsync": 1, "wal_autocheckpoint": checkpointPages} {
				if got, err := b.queryInt("PRAGMA " + pragma); err != nil || got != want {
					t.Errorf("SyncNormal %v: %s is %d, %v, want %d", normal, pragma, got, err, want)
				}
			}
			return b.query("PRAGMA journal_mode", func(r row) error {
				if r.text(0) != "wal" {
					t.Errorf("the journal mode is %s", r.text(0))
				}
				return nil
			})
		})
		if err != nil {
			t.Error(err)
		}
	}
}
