package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// family is a store with one node that owns what it starts.
type family struct {
	t    testing.TB
	s    *Store
	node journal.NodeID
}

func newFamily(t testing.TB, s *Store) *family {
	m, err := s.Join(t.Context(), journal.Node{Name: "n", Lease: 1e12})
	if err != nil {
		t.Fatal(err)
	}
	return &family{t: t, s: s, node: m.ID()}
}

// run starts a run and returns its first commit.
func (f *family) run() driver.Commit {
	f.t.Helper()
	st := startOf("good")
	st.Owner = f.node
	if _, err := f.s.Start(f.t.Context(), nil, []journal.Start{st}); err != nil {
		f.t.Fatal(err)
	}
	return First(st.ID, f.node, st.Input, driver.Next{}, journal.Event{Kind: journal.RunStarted})
}

func childOf(c *driver.Commit, workflow string, cmd journal.Cmd) journal.Start {
	st := startOf(workflow)
	st.Parent = &journal.Parent{Run: c.Run, Generation: c.Generation, Cmd: cmd}
	return st
}

func signalTo(run journal.RunID, key string, cmd journal.Cmd) journal.Message {
	return journal.Message{Run: run, Kind: journal.MessageSignal, Name: "s", Key: key, Cmd: cmd}
}

func (f *family) load(run journal.RunID) driver.History {
	f.t.Helper()
	list, err := f.s.Load(f.t.Context(), []driver.LoadRequest{{Run: run}})
	if err != nil {
		f.t.Fatal(err)
	}
	return list[0]
}

// TestJ2_EffectsAtFaultHinderNoOther: the file refuses a child of one member, and one that another
// member messages. Their turns are not written, and those of the others are, with what those do to
// each other.
func TestJ2_EffectsAtFaultHinderNoOther(t *testing.T) {
	t.Parallel()
	f := newFamily(t, openHere(t))
	script(t, f.s, `CREATE TRIGGER no_evil BEFORE INSERT ON reprise_tasks WHEN NEW.workflow = 'evil' BEGIN SELECT raise(ABORT, 'no'); END`)
	first, evil, dup, last := f.run(), f.run(), f.run(), f.run()
	first.Messages = []journal.Message{signalTo(last.Run, "a", 1), signalTo(evil.Run, "a", 2)}
	first.Starts = []journal.Start{childOf(&first, "good", 3)}
	evil.Messages = []journal.Message{signalTo(first.Run, "a", 1)}
	evil.Starts = []journal.Start{childOf(&evil, "good", 2), childOf(&evil, "evil", 3)}
	dup.Messages = []journal.Message{signalTo(first.Run, "b", 1)}
	dup.Events = append(dup.Events, dup.Events[0])
	last.Messages = []journal.Message{signalTo(first.Run, "c", 1)}
	out, err := f.s.Commit(context.Background(), []driver.Commit{first, evil, dup, last})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []driver.Commit{first, evil, dup, last} {
		h := f.load(c.Run)
		good := i == 0 || i == 3
		if (out[i].Err == nil) != good || (len(h.Events) == 1) != good || (h.Run.Task.Turn == 1) != good {
			t.Errorf("member %d: %v, %d events, turn %d", i, out[i].Err, len(h.Events), h.Run.Task.Turn)
		}
		if want := h.Run.Task.InboxLast; good && out[i].InboxLast != want || int(want) != len(h.Inbox) {
			t.Errorf("member %d: told of message %d, %d of %d wait", i, out[i].InboxLast, len(h.Inbox), want)
		}
	}
	for run, want := range map[journal.RunID]int{first.Run: 3, evil.Run: 1, dup.Run: 0, last.Run: 2} {
		if h := f.load(run); len(h.Inbox) != want {
			t.Errorf("%d messages wait: %+v", len(h.Inbox), h.Inbox)
		}
	}
	page, err := f.s.List(t.Context(), journal.ListFilter{Parent: evil.Run})
	if err != nil || len(page.Runs) != 0 {
		t.Errorf("the member at fault has %d children, %v", len(page.Runs), err)
	}
}

// TestEffectsInAStepsTransaction: they exist exactly if it commits, and a turn that is written
// already does not let a step happen a second time.
func TestEffectsInAStepsTransaction(t *testing.T) {
	t.Parallel()
	f := newFamily(t, openHere(t))
	script(t, f.s, `CREATE TABLE done (n INTEGER)`)
	c := f.run()
	c.Starts = []journal.Start{childOf(&c, "good", 1)}
	c.Messages = []journal.Message{signalTo(journal.NewRunID(), "a", 2)}
	for i, want := range []error{journal.ErrFenced, nil, journal.ErrFenced} {
		tx, err := f.s.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Value().(*sql.Tx).Exec(`INSERT INTO done VALUES (1)`); err != nil {
			t.Fatal(err)
		}
		try := c
		if try.Tx = tx; i == 0 {
			try.Fence++
		}
		out, err := f.s.Commit(t.Context(), []driver.Commit{try})
		if err != nil || out[0].Err != want || want == nil && out[0].InboxLast != 1 {
			t.Errorf("try %d: %+v, %v, want %v", i, out, err, want)
		}
		n := int64(0)
		err = f.s.read(t.Context(), func(c *conn) (err error) { n, err = c.queryInt(`SELECT count(*) FROM done`); return err })
		if err != nil || n != min(1, int64(i)) {
			t.Errorf("try %d: the step has happened %d times, %v", i, n, err)
		}
		if h := f.load(c.Run); len(h.Inbox) != min(1, i) {
			t.Errorf("try %d: %+v", i, h.Inbox)
		}
	}
}

// BenchmarkLoadBehindOldMessages must not depend on how many messages the generations before have
// seen.
func BenchmarkLoadBehindOldMessages(b *testing.B) {
	for _, old := range []int{100, 100_000} {
		b.Run(fmt.Sprint(old), func(b *testing.B) {
			s, err := Open(b.Context(), b.TempDir()+"/reprise.db", nil)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			f := newFamily(b, s)
			c := f.run()
			for from := 0; from < old; from += 1000 {
				var list []journal.Message
				for i := range min(1000, old-from) {
					list = append(list, signalTo(c.Run, fmt.Sprint(from+i), 0))
					c.Events = append(c.Events, journal.Event{Kind: journal.SignalReceived, Inbox: journal.InboxSeq(from + i + 1), Name: "s"})
				}
				if _, err := s.Send(b.Context(), nil, list); err != nil {
					b.Fatal(err)
				}
			}
			c.Events = append(c.Events, journal.Event{Kind: journal.RunContinued})
			c = Chain(c)
			c.InboxSeen = journal.InboxSeq(old)
			c.Continue = &journal.Continue{Version: 1, Seen: c.InboxSeen, Carried: []journal.InboxSeq{7, 9}}
			out, err := s.Commit(b.Context(), []driver.Commit{c})
			if err != nil || out[0].Err != nil {
				b.Fatal(err, out)
			}
			if h := f.load(c.Run); len(h.Inbox) != 2 || len(h.Events) != 0 {
				b.Fatalf("%d messages and %d events", len(h.Inbox), len(h.Events))
			}
			for b.Loop() {
				f.load(c.Run)
			}
		})
	}
}

// BenchmarkCommitChildren is one turn that starts so many children.
func BenchmarkCommitChildren(b *testing.B) {
	for _, n := range []int{1, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, err := Open(b.Context(), b.TempDir()+"/reprise.db", nil)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			f := newFamily(b, s)
			for b.Loop() {
				c := f.run()
				for i := range n {
					st := childOf(&c, "good", journal.Cmd(i+1))
					st.Input = journal.Payload{Data: []byte(`{"n":1}`)}
					c.Starts = append(c.Starts, st)
				}
				out, err := s.Commit(b.Context(), []driver.Commit{c})
				if err != nil || out[0].Err != nil {
					b.Fatal(err, out)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "children/s")
		})
	}
}
