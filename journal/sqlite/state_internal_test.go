package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

var (
	kept     = driver.Next{}
	parked   = driver.Next{Kind: driver.NextPark}
	released = driver.Next{Kind: driver.NextRelease}
	closes   = driver.Next{Kind: driver.NextClose}

	startedEvent = journal.Event{Kind: journal.RunStarted}
	stepEvent    = journal.Event{Kind: journal.StepCompleted, Cmd: 1, Name: "a"}
	doneEvent    = journal.Event{Kind: journal.RunCompleted}
)

// commit submits one commit to the store.
func (f *family) commit(c driver.Commit) driver.Outcome {
	f.t.Helper()
	out, err := f.s.Commit(f.t.Context(), []driver.Commit{c})
	if err != nil {
		f.t.Fatal(err)
	}
	return out[0]
}

// accepted submits a commit that must be written.
func (f *family) accepted(c driver.Commit) driver.Outcome {
	f.t.Helper()
	out := f.commit(c)
	if out.Err != nil {
		f.t.Fatal(out.Err)
	}
	return out
}

// refused submits a commit that must be refused and leave everything as it was.
func (f *family) refused(what string, c driver.Commit) {
	f.t.Helper()
	before := f.rows(c.Run)
	if out := f.commit(c); !errors.Is(out.Err, journal.ErrFenced) {
		f.t.Errorf("%s: got %v, want ErrFenced", what, out.Err)
	}
	if d := cmp.Diff(before, f.rows(c.Run)); d != "" {
		f.t.Errorf("%s was refused and changed the file:\n%s", what, d)
	}
}

// rows are all rows of a run, column by column.
func (f *family) rows(run journal.RunID) (list []string) {
	f.t.Helper()
	err := f.s.read(f.t.Context(), func(c *conn) error {
		for _, table := range []string{"runs WHERE id", "tasks WHERE run_id", "events WHERE run_id", "inbox WHERE run_id"} {
			err := c.query(`SELECT * FROM reprise_`+table+` = ?`, func(r row) error {
				list = append(list, table+": "+fmt.Sprintf("%v", r))
				return nil
			}, uuidArg(run))
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return list
}

// claim claims all that is due of the workflow that the family's runs have.
func (f *family) claim(node journal.NodeID, chance uint32, reconcile bool) []driver.Claimed {
	f.t.Helper()
	c, err := f.s.Claim(f.t.Context(), driver.ClaimRequest{Node: node, Max: 10, Chance: chance, Reconcile: reconcile,
		Routes: []journal.Route{{Queue: "q", Workflow: "good", Version: 1}}})
	if err != nil {
		f.t.Fatal(err)
	}
	return c.Tasks
}

// TestJ1_CommitsFollowTheNewestEvent: whatever becomes of the task, a commit that was built on
// another state than the stored one is refused and changes nothing.
func TestJ1_CommitsFollowTheNewestEvent(t *testing.T) {
	t.Parallel()
	f := newFamily(t, openHere(t))
	for what, next := range map[string]driver.Next{"keep": kept, "park": parked, "release": released, "close": closes,
		"block": {Kind: driver.NextBlock, Problem: "p"}, "append": kept} {
		for _, events := range []int{0, 1, 2} {
			first := f.run()
			f.refused(what+" of a run without events behind one", func() driver.Commit {
				c := Then(first, next, stepEvent)
				c.Turn = 0
				return c
			}())
			first.Events = append(first.Events, stepEvent)
			first = Chain(first)
			f.accepted(first)
			list := []journal.Event{stepEvent, stepEvent}[:events]
			if next.Kind == driver.NextClose {
				list = append(list, doneEvent)
			}
			c := Then(first, next, list...)
			if c.AppendOnly = what == "append"; c.AppendOnly && events == 0 {
				continue
			}
			for state, head := range map[string]journal.Head{
				"an empty history":            first.Head,
				"an earlier event":            {Seq: 1, Link: first.Events[0].Link},
				"an event that never was":     {Seq: 2, Link: first.Events[1].Link + 1},
				"the link of another event":   {Seq: 2, Link: first.Events[0].Link},
				"a history that is longer":    {Seq: 3, Link: first.Events[1].Link},
				"a number of another history": {Seq: 1, Link: first.Events[1].Link},
			} {
				wrong := c
				wrong.Head = head
				f.refused(fmt.Sprintf("%s with %d events behind %s", what, events, state), Chain(wrong))
			}
			f.accepted(c)
		}
	}
	c := f.run()
	f.accepted(c)
	unknown := Then(c, released)
	unknown.Head = journal.Head{}
	f.accepted(unknown) // of an owner that could not load the history
	if tasks := f.claim(f.node, 0, false); len(tasks) == 0 || tasks[len(tasks)-1].Task.Link != 0 {
		t.Errorf("%+v: the link of a state that the owner did not know", tasks)
	}
}

// TestStepTxFollowsTheNewestEvent: a step's own writes are rolled back with a turn that was built on
// another state, or that consumes what is not there.
func TestStepTxFollowsTheNewestEvent(t *testing.T) {
	t.Parallel()
	f := newFamily(t, openHere(t))
	script(t, f.s, `CREATE TABLE done (n INTEGER)`)
	first := f.run()
	f.accepted(first)
	good := Then(first, kept, stepEvent)
	stale, absent := good, good
	stale.Head.Link++
	stale = Chain(stale)
	absent.Consumed = []driver.Consumed{{Number: 1, Digest: 7}}
	for i, c := range []driver.Commit{stale, absent, good} {
		tx, err := f.s.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Value().(*sql.Tx).Exec(`INSERT INTO done VALUES (1)`); err != nil {
			t.Fatal(err)
		}
		c.Tx = tx
		if out := f.commit(c); (out.Err == nil) != (i == 2) || i < 2 && !errors.Is(out.Err, journal.ErrFenced) {
			t.Errorf("commit %d: %v", i, out.Err)
		}
	}
	n := int64(0)
	err := f.s.read(t.Context(), func(c *conn) (err error) { n, err = c.queryInt(`SELECT count(*) FROM done`); return err })
	if h := f.load(first.Run); err != nil || n != 1 || len(h.Events) != 2 {
		t.Errorf("the step has happened %d times, %v, there are %d events", n, err, len(h.Events))
	}
}

// TestJ4_OwnWritesAreKnownByTheirLinks: wherever the run has gone since, and only then.
func TestJ4_OwnWritesAreKnownByTheirLinks(t *testing.T) {
	t.Parallel()
	f := newFamily(t, openHere(t))
	other, err := f.s.Join(t.Context(), journal.Node{Name: "other", Lease: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	first := f.run()
	f.accepted(first)
	second := Then(first, kept, stepEvent)
	second.AppendOnly = true
	f.accepted(second)
	third := Then(second, released, stepEvent)
	f.accepted(third)
	written := func(when string) {
		t.Helper()
		before := f.rows(first.Run)
		for i, c := range []driver.Commit{first, second, third} {
			if out := f.commit(c); out.Err != nil {
				t.Errorf("%s: commit %d, submitted again: %v", when, i+1, out.Err)
			}
			c.Events = append([]journal.Event(nil), c.Events...)
			c.Events[0].Name = "another"
			f.refused(fmt.Sprintf("%s: another commit than number %d", when, i+1), Chain(c))
		}
		if d := cmp.Diff(before, f.rows(first.Run)); d != "" {
			t.Errorf("%s: commits that were submitted again changed the file:\n%s", when, d)
		}
	}
	written("a free run")
	task := f.claim(other.ID(), 1, false)[0].Task
	written("a run of another node")
	last := Then(third, closes, doneEvent)
	last.Node, last.Fence, last.Turn = other.ID(), task.Fence, task.Turn
	f.accepted(last)
	written("a closed run")
	f.accepted(last)

	idle := f.run()
	f.accepted(idle)
	nothing := Then(idle, kept) // leaves the task behind, and no event
	f.accepted(nothing)
	f.accepted(nothing)
	f.accepted(Then(nothing, kept))
	f.refused("a commit without events, two turns later", nothing)
}

// TestJ5_CommitsConsumeTheVeryMessages that their owner has read: a number is not enough.
func TestJ5_CommitsConsumeTheVeryMessages(t *testing.T) {
	t.Parallel()
	f := newFamily(t, openHere(t))
	c, sender := f.run(), f.run()
	f.accepted(c)
	update := journal.Message{Run: c.Run, Kind: journal.MessageUpdate, Name: "u", Key: "~update/u", Cmd: 4, Generation: 9,
		Payload: journal.Payload{Encoding: "gzip", Data: []byte{1, 2}}}
	if _, err := f.s.Send(t.Context(), nil, []journal.Message{signalTo(c.Run, "a", 3), update, signalTo(c.Run, "b", 0)}); err != nil {
		t.Fatal(err)
	}
	sender.Messages = []journal.Message{signalTo(c.Run, "c", 5)}
	f.accepted(sender)
	h, answers := f.load(c.Run), f.load(sender.Run)
	if len(h.Inbox) != 4 || len(answers.Inbox) != 1 {
		t.Fatalf("%d and %d messages", len(h.Inbox), len(answers.Inbox))
	}
	base := Then(c, kept)
	all := base
	for i := range h.Inbox {
		all = Consume(all, &h.Inbox[i])
	}
	gap := Consume(Consume(base, &h.Inbox[0]), &h.Inbox[2])
	for what, change := range map[string]func(list []driver.Consumed){
		"the first message is another":  func(list []driver.Consumed) { list[0].Digest++ },
		"the last message is another":   func(list []driver.Consumed) { list[len(list)-1].Digest++ },
		"the last message is not there": func(list []driver.Consumed) { list[len(list)-1].Number = 5 },
		"two messages are exchanged":    func(list []driver.Consumed) { list[0].Digest, list[1].Digest = list[1].Digest, list[0].Digest },
	} {
		for _, c := range []driver.Commit{all, gap} {
			c.Consumed = append([]driver.Consumed(nil), c.Consumed...)
			change(c.Consumed)
			f.refused(what, c)
		}
	}
	f.accepted(gap)
	left := Consume(Consume(Then(gap, kept), &h.Inbox[1]), &h.Inbox[3])
	f.accepted(left)
	f.accepted(Consume(Then(sender, kept), &answers.Inbox[0])) // what the store itself sends
}
