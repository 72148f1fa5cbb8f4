package postgres_test

import (
	"sync"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// TestFrozenProcessLosesItsLocks: a process that stops between two requests of a transaction, with
// its connections open, keeps nobody from its runs for long.
func TestFrozenProcessLosesItsLocks(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, w *crashWorld) action{
		"a step's transaction": func(t *testing.T, w *crashWorld) action {
			first := commitOf(w.j, owned(t, w.j, w.node), keep, began("a"))
			commit(t, w.j, first)
			return action{Verb: "commit a step's transaction", Runs: []journal.RunID{first.Run},
				Commits: []driver.Commit{after(first, closing, stepDone(1, "a"), completed())}}
		},
		"effects": func(t *testing.T, w *crashWorld) action {
			a := action{Verb: "commit", Commits: effectsOf(w.j, func() driver.Claimed { return born(t, w.j, w.node) })}
			a.Runs = []journal.RunID{a.Commits[0].Run}
			return a
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := pgtest.New(t)
			w := &crashWorld{txWorld: newTxWorld(t, dsn), dsn: dsn, link: pgtest.Proxy(t, dsn)}
			a := prepare(t, w)
			a.DSN = w.link.DSN()
			frozen := make(chan struct{})
			freeze := sync.OnceFunc(func() { close(frozen) })
			p := spawn(t, "act", a.DSN)
			w.link.CutWhen(func(at pgtest.Point) bool {
				if at.Answered && (at.Mentions("for update") || at.Mentions("update reprise.tasks") || at.Mentions("delete from reprise.tasks")) {
					p.stop() // before the server hears of it, so that the answer cannot be answered
					freeze()
				}
				return false
			}, nil)
			p.begin(a)
			<-frozen
			free := func() bool {
				return query[int](t, w.conn, "SELECT count(*)::int FROM (SELECT FROM reprise.tasks WHERE run_id = $1::text::uuid FOR UPDATE SKIP LOCKED) t", a.Runs[0].String()) == 1
			}
			eventually(t, "the frozen process has its lock", func() bool { return !free() })
			eventually(t, "the lock of the frozen process is gone", free)
		})
	}
}
