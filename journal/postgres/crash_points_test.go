package postgres_test

import (
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

func TestCrashPointsOfStart(t *testing.T) {
	sweep(t, func(w *crashWorld) action {
		old := owned(t, w.j, w.node)
		commit(t, w.j, commitOf(w.j, old, closing, began(), completed()))
		taken := start(t, w.j, journal.Start{ID: journal.NewRunID(), Key: journal.NewRunID().String(), Delay: time.Hour})
		a := action{Verb: "start", Node: w.node, Starts: []journal.Start{
			{ID: journal.NewRunID(), Workflow: "flow", Delay: time.Hour},
			{ID: journal.NewRunID(), Workflow: "flow", Key: journal.NewRunID().String(), Delay: time.Hour},
			{ID: journal.NewRunID(), Workflow: "flow", Owner: w.node},
		}}
		for _, s := range a.Starts {
			a.Runs = append(a.Runs, s.ID)
		}
		a.Runs = append(a.Runs, taken.Run)
		return a
	})
}

// TestCrashPointsOfReuse: a new run takes a closed run's key over.
func TestCrashPointsOfReuse(t *testing.T) {
	sweep(t, func(w *crashWorld) action {
		key := journal.NewRunID().String()
		old := start(t, w.j, journal.Start{Key: key})
		commit(t, w.j, commitOf(w.j, claimOne(t, w.j, w.node), closing, began(), completed()))
		next := journal.Start{ID: journal.NewRunID(), Workflow: "flow", Key: key, Reuse: journal.ReuseAllow, Delay: time.Hour}
		return action{Verb: "start", Starts: []journal.Start{next}, Runs: []journal.RunID{old.Run, next.ID}}
	})
}

func TestCrashPointsOfStartInATransaction(t *testing.T) {
	sweep(t, func(w *crashWorld) action {
		s := journal.Start{ID: journal.NewRunID(), Workflow: "flow", Key: journal.NewRunID().String(), Delay: time.Hour}
		return action{Verb: "start in a transaction", Starts: []journal.Start{s}, Runs: []journal.RunID{s.ID}}
	})
}

func TestCrashPointsOfSend(t *testing.T) {
	sweep(t, func(w *crashWorld) action {
		var a action
		for range 2 {
			c := owned(t, w.j, w.node)
			commit(t, w.j, commitOf(w.j, c, keep, began()))
			a.Runs = append(a.Runs, c.Run.ID)
		}
		a.Verb = "send"
		for _, run := range a.Runs {
			a.Messages = append(a.Messages,
				journal.Message{Run: run, Kind: journal.MessageSignal, Name: "sig", Key: "1"},
				journal.Message{Run: run, Kind: journal.MessageSignal, Name: "sig", Key: "2"},
				journal.Message{Run: run, Kind: journal.MessageCancel})
		}
		return a
	})
}

func TestCrashPointsOfClaim(t *testing.T) {
	sweep(t, func(w *crashWorld) action {
		// What earlier rounds claimed counts as committed to, so that only this round's runs are
		// reconciled.
		mustExec(t, w.conn, "UPDATE reprise.tasks SET unproven = false")
		a := action{Verb: "claim", Node: w.node}
		for range 3 {
			a.Runs = append(a.Runs, start(t, w.j, journal.Start{}).Run)
		}
		return a
	})
}

func TestCrashPointsOfCommit(t *testing.T) {
	sweep(t, func(w *crashWorld) action {
		a := action{Verb: "commit"}
		later := w.j.Now().Add(time.Hour)
		for _, next := range []driver.Next{keep, park, {Kind: driver.NextPark, At: later}, {Kind: driver.NextBlock, At: later, Problem: "p"}, closing} {
			c := owned(t, w.j, w.node)
			send(t, w.j, journal.Message{Run: c.Run.ID, Kind: journal.MessageSignal, Name: "sig", Key: "1"})
			evs := []journal.Event{began("a", "b"), {Kind: journal.SignalReceived, Inbox: 1, Name: "sig"}, stepDone(1, "a")}
			if next.Kind == driver.NextClose {
				evs = append(evs, completed())
			}
			turn := commitOf(w.j, c, next, evs...)
			if next.Kind == driver.NextPark {
				turn.Waiting = []string{"step b"}
				turn.Attempts = []journal.Attempt{{Cmd: 2, Name: "b", Made: 1, NextAt: later}}
			}
			a.Commits, a.Runs = append(a.Commits, turn), append(a.Runs, c.Run.ID)
		}
		return a
	})
}

// TestCrashPointsOfAppends: turns that only add events, in one batch with one that does more.
func TestCrashPointsOfAppends(t *testing.T) {
	sweep(t, func(w *crashWorld) action {
		a := action{Verb: "commit", Node: w.node}
		for i := range 3 {
			first := commitOf(w.j, owned(t, w.j, w.node), keep, began("a"))
			commit(t, w.j, first)
			second := appending(first, stepDone(1, "a"))
			if i == 1 {
				second = after(first, closing, stepDone(1, "a"), completed())
			}
			a.Commits, a.Runs = append(a.Commits, second), append(a.Runs, first.Run)
		}
		return a
	})
}

// TestCrashPointsOfABatchWithAStaleMember: the batch falls apart into one transaction for each
// member.
func TestCrashPointsOfABatchWithAStaleMember(t *testing.T) {
	sweep(t, func(w *crashWorld) action {
		a := action{Verb: "commit", Stale: 2}
		for i := range 3 {
			c := owned(t, w.j, w.node)
			first := commitOf(w.j, c, keep, began("a"))
			commit(t, w.j, first)
			second := after(first, keep, stepDone(1, "a"))
			if i == 1 {
				second.Head, second.Events[0].Seq = first.Head, 1
				chain(&second)
			}
			a.Commits, a.Runs = append(a.Commits, second), append(a.Runs, c.Run.ID)
		}
		return a
	})
}

// TestCrashPointsOfEffects: what turns do to others happens with them, and once.
func TestCrashPointsOfEffects(t *testing.T) {
	sweep(t, func(w *crashWorld) action {
		a := action{Verb: "commit", Commits: effectsOf(w.j, func() driver.Claimed { return born(t, w.j, w.node) })}
		for i := range a.Commits {
			c := &a.Commits[i]
			a.Runs = append(a.Runs, c.Run)
			for k := range c.Starts {
				a.Runs = append(a.Runs, c.Starts[k].ID)
			}
			if c.Next.Kind != driver.NextClose {
				continue
			}
			for _, policy := range []journal.ClosePolicy{journal.CloseCancel, journal.CloseTerminate, journal.CloseAbandon} {
				child := start(t, w.j, journal.Start{Delay: time.Hour, Parent: &journal.Parent{Run: c.Run, Generation: 1, Cmd: 1, Policy: policy}})
				below := start(t, w.j, journal.Start{Delay: time.Hour, Parent: &journal.Parent{Run: child.Run, Generation: 1, Cmd: 1, Policy: policy}})
				a.Runs = append(a.Runs, child.Run, below.Run)
			}
		}
		return a
	})
}

// effectsOf returns a batch of turns of fresh runs which does everything that turns do to others:
// the first starts a child, one more whose key is taken, and writes to the others and to nobody;
// the second goes on as a new generation; the third closes.
func effectsOf(j *driver.Journal, fresh func() driver.Claimed) []driver.Commit {
	one, two, three := fresh(), fresh(), fresh()
	parent := &journal.Parent{Run: one.Run.ID, Generation: 1, Cmd: 1}
	key := journal.NewRunID().String()
	signal := func(to journal.RunID, cmd journal.Cmd) journal.Message {
		return journal.Message{Run: to, Kind: journal.MessageSignal, Name: "s", Key: "~test/" + one.Run.ID.String(), Cmd: cmd}
	}
	a := commitOf(j, one, park, began("a"))
	a.Starts = []journal.Start{
		{ID: journal.NewRunID(), Workflow: "flow", Key: key, Delay: time.Hour, Parent: parent},
		{ID: journal.NewRunID(), Workflow: "flow", Key: key, Delay: time.Hour, Parent: parent},
	}
	a.Messages = []journal.Message{signal(two.Run.ID, 0), signal(three.Run.ID, 2), signal(journal.NewRunID(), 3)}
	b := commitOf(j, two, driver.Next{Kind: driver.NextRelease}, began("a"), journal.Event{Kind: journal.RunContinued})
	b.Continue = &journal.Continue{Input: journal.Payload{Data: []byte("2")}, Version: 1}
	b.Messages = []journal.Message{signal(one.Run.ID, 0)}
	c := commitOf(j, three, closing, began("a"), completed())
	c.Children = true
	return []driver.Commit{a, b, c}
}

func TestCrashPointsOfAStepTx(t *testing.T) {
	sweep(t, func(w *crashWorld) action {
		first := commitOf(w.j, owned(t, w.j, w.node), keep, began("a"))
		commit(t, w.j, first)
		return action{Verb: "commit a step's transaction", Runs: []journal.RunID{first.Run},
			Commits: []driver.Commit{after(first, closing, stepDone(1, "a"), completed())}}
	})
}

func TestCrashPointsOfAStepTxWithEffects(t *testing.T) {
	sweep(t, func(w *crashWorld) action {
		first := commitOf(w.j, born(t, w.j, w.node), keep, began("a"))
		commit(t, w.j, first)
		child := journal.Start{ID: journal.NewRunID(), Workflow: "flow", Delay: time.Hour, Parent: &journal.Parent{Run: first.Run, Generation: 1, Cmd: 2}}
		turn := after(first, keep, stepDone(1, "a"))
		turn.Starts = []journal.Start{child}
		turn.Messages = []journal.Message{{Run: child.ID, Kind: journal.MessageSignal, Name: "s", Key: "~test", Cmd: 3}}
		return action{Verb: "commit a step's transaction", Runs: []journal.RunID{first.Run, child.ID}, Commits: []driver.Commit{turn}}
	})
}

func TestCrashPointsOfOperators(t *testing.T) {
	for name, op := range map[string]driver.AdminKind{
		"Terminate": driver.AdminTerminate, "Resume": driver.AdminResume, "Delete": driver.AdminDelete,
		"SetLabels": driver.AdminSetLabels, "SetPriority": driver.AdminSetPriority,
	} {
		t.Run(name, func(t *testing.T) {
			sweep(t, func(w *crashWorld) action {
				// A resumed run of an earlier round must not be due in this one.
				mustExec(t, w.conn, "UPDATE reprise.tasks SET visible_at = 'infinity' WHERE owner = 0")
				c := owned(t, w.j, w.node)
				send(t, w.j, journal.Message{Run: c.Run.ID, Kind: journal.MessageSignal, Name: "sig", Key: "1"})
				next, evs := park, []journal.Event{began(), {Kind: journal.SignalReceived, Inbox: 1, Name: "sig"}}
				if op == driver.AdminDelete {
					next, evs = closing, append(evs, completed())
				}
				commit(t, w.j, commitOf(w.j, c, next, evs...))
				a := driver.AdminAction{Run: c.Run.ID, Kind: op, Reason: "r"}
				switch op {
				case driver.AdminSetLabels:
					a.Labels = map[string]*string{"a": new("1")}
				case driver.AdminSetPriority:
					a.Priority = 5
				}
				return action{Verb: "admin", Runs: []journal.RunID{c.Run.ID}, Admin: a}
			})
		})
	}
}

// TestCrashPointsOfANode: wherever a node dies between joining and leaving, what it owned is free
// again once it is buried.
func TestCrashPointsOfANode(t *testing.T) {
	sweep(t, func(w *crashWorld) action {
		mustExec(t, w.conn, "UPDATE reprise.tasks SET visible_at = 'infinity' WHERE owner = 0")
		a := action{Verb: "live and leave"}
		for range 3 {
			a.Runs = append(a.Runs, start(t, w.j, journal.Start{}).Run)
		}
		return a
	})
}

func TestCrashPointsOfReap(t *testing.T) {
	sweep(t, func(w *crashWorld) action {
		mustExec(t, w.conn, "UPDATE reprise.tasks SET visible_at = 'infinity' WHERE owner = 0")
		m, err := w.j.Join(t.Context(), journal.Node{Name: "dead", Routes: []journal.Route{flowRoute}, Lease: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		a := action{Verb: "reap"}
		for range 3 {
			a.Runs = append(a.Runs, start(t, w.j, journal.Start{}).Run)
		}
		claim(t, w.j, m.ID(), 10)
		mustExec(t, w.conn, "UPDATE reprise.nodes SET expires_at = now() - interval '1 s' WHERE id = $1", int32(m.ID()))
		return a
	})
}

// The first migrationPoints crash points of migrations are tried, and every migrationStride-th
// behind them: each migration is the same few messages, and a stride that is prime meets each of
// them again, in another one.
const (
	migrationPoints = 12
	migrationStride = 5
)

// TestCrashPointsOfMigrations: a process that dies while it makes the tables leaves nothing that
// stops the next one.
func TestCrashPointsOfMigrations(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Empty(t)
	link, admin := pgtest.Proxy(t, dsn), connect(t, dsn)
	point, tried, lived := 1, 0, false
	for ; !lived; point++ {
		if point > migrationPoints {
			point += migrationStride - 1
		}
		tried++
		mustExec(t, admin, "DROP SCHEMA IF EXISTS reprise CASCADE") // as the point before has left it
		p := spawn(t, "migrate", link.DSN())
		lived = p.crash(link, point, link.DSN())
		s, err := postgres.Open(t.Context(), dsn, nil)
		if err != nil {
			t.Fatal(err)
		}
		j := driver.New(s, nil)
		c := owned(t, j, join(t, j))
		commit(t, j, commitOf(j, c, closing, began(), completed()))
		pgtest.Check(t, dsn, pgtest.Schema)
		s.Close()
	}
	if t.Logf("%d crash points of about %d", tried-1, point); tried <= migrationPoints {
		t.Error("too few statements to crash after: the test proves nothing")
	}
}
