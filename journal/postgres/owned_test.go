package postgres_test

import (
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Release frees what the node owns under the fence that it names, and nothing else.
func TestReleaseByFence(t *testing.T) {
	w := newAppendWorld(t)
	a, b := w.first(), w.first()
	list := w.owned(w.m)
	list[0].Fence++
	if err := w.m.Release(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	if left := w.owned(w.m); len(left) != 1 || left[0].Run != list[0].Run {
		t.Errorf("left is %v", left)
	}
	j, m := w.other()
	if err := m.Release(t.Context(), w.owned(w.m)); err != nil {
		t.Fatal(err)
	}
	if left := w.owned(w.m); len(left) != 1 {
		t.Errorf("another node released %v", left)
	}
	if n := len(claim(t, j, m.ID(), 5)); n != 1 {
		t.Errorf("%d of %v are free", n, []driver.Commit{a, b})
	}
}

// A park leaves the link behind, which the next claim gets and the row loses.
func TestTheLinkOfAFreeTask(t *testing.T) {
	w := newAppendWorld(t)
	for _, next := range []driver.Next{{Kind: driver.NextRelease}, {Kind: driver.NextPark, At: w.j.Now().Add(-time.Hour)}} {
		for _, batch := range []int{1, 2} {
			c := after(w.first(), next, stepDone(1, "a"))
			list := []driver.Commit{c}
			if batch == 2 {
				list = append(list, after(w.first(), keep, stepDone(1, "a")))
			}
			w.want("a batch", w.errs(w.j, list...), make([]error, batch)...)
			if got := claimOne(t, w.j, w.m.ID()); got.Task.Link != c.NewHead().Link || got.Task.Fence.Count() != 2 {
				t.Errorf("next %d, batch of %d: claimed %+v, want link %d", next.Kind, batch, got.Task, c.NewHead().Link)
			}
			if n := query[int](t, w.conn, "SELECT count(*)::int FROM reprise.tasks WHERE link <> 0"); n != 0 {
				t.Errorf("%d owned tasks have a link", n)
			}
		}
	}
}

// A message is consumed only if it is the one that the owner has read.
func TestConsumedIsCompared(t *testing.T) {
	w := newAppendWorld(t)
	for _, batch := range []int{1, 2} {
		for what, c := range map[string]struct {
			spoil string
			want  error
		}{
			"as it was":             {"SELECT $1::text", nil},
			"another one":           {"UPDATE reprise.inbox SET digest = digest + 1 WHERE run_id = $1::text::uuid", journal.ErrFenced},
			"one that was not sent": {"DELETE FROM reprise.inbox WHERE run_id = $1::text::uuid", journal.ErrFenced},
		} {
			first := w.first()
			send(t, w.j, journal.Message{Run: first.Run, Kind: journal.MessageSignal, Name: "sig", Cmd: 7})
			list, err := w.j.Load(t.Context(), []driver.LoadRequest{{Run: first.Run}})
			if err != nil {
				t.Fatal(err)
			}
			m := list[0].Inbox[0]
			turn := after(first, keep, m.Event())
			turn.Consumed = []driver.Consumed{{Number: m.Number, Digest: m.Digest()}}
			mustExec(t, w.conn, c.spoil, first.Run.String())
			members, want := []driver.Commit{turn}, []error{c.want}
			if batch == 2 {
				members, want = append(members, after(w.first(), keep, stepDone(1, "a"))), append(want, nil)
			}
			w.want(what, w.errs(w.j, members...), want...)
			mustExec(t, w.conn, "DELETE FROM reprise.inbox WHERE run_id = $1::text::uuid", first.Run.String())
			mustExec(t, w.conn, "UPDATE reprise.tasks SET inbox_last = 0 WHERE run_id = $1::text::uuid", first.Run.String())
			mustExec(t, w.conn, "UPDATE reprise.events SET kind = 2, inbox = NULL, cmd = 1, name = 'a' WHERE run_id = $1::text::uuid AND inbox IS NOT NULL", first.Run.String())
		}
	}
}
