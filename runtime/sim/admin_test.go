package sim

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
)

// Admin implements driver.Store.
func (l *line) Admin(ctx context.Context, a driver.AdminAction) (driver.AdminOutcome, error) {
	w := l.p.w
	w.tape.mu.Lock()
	defer w.tape.mu.Unlock()
	return w.admin(context.WithoutCancel(ctx), l.store, a)
}

// admin has a store carry out what an operator does, and checks J12: what changes a run has one row
// of the audit, and nothing else has one. What a rewind makes of a run is checked too (J13). The tape
// is locked, so nothing else happens meanwhile.
func (w *world) admin(ctx context.Context, s driver.Store, a driver.AdminAction) (driver.AdminOutcome, error) {
	if a.Scope != nil || a.Kind == driver.AdminDrain {
		return w.adminOther(ctx, s, a)
	}
	was, made := w.kept(a.Run), w.made(&a)
	rows := w.audited(a.Run)
	var children []memory.RunSnapshot
	if a.Rewind != nil {
		children = w.childrenOf(a.Run)
	}
	out, err := s.Admin(ctx, a)
	now, want := w.kept(a.Run), 0
	before, after := was.Run.Task, now.Run.Task
	changed := (before == nil) != (after == nil) || after != nil && before.State != after.State || edited(&was.Run, &now.Run)
	rewinds := a.Kind.GoesBack()
	if err == nil && (changed || rewinds || a.Kind == driver.AdminResume || a.Kind == driver.AdminFork && made.is(&was.Run)) {
		want = 1
	}
	if got := w.audited(a.Run) - rows; got != want {
		w.breaks("audit", "a %s of run %s, %v, turned %+v into %+v and has left %d entries (J12)", a.Kind, w.number(a.Run), err, before, after, got)
	}
	switch {
	case err != nil:
	case rewinds:
		w.rewound(&a, &was, &now, children)
	case a.Kind == driver.AdminFork && made.is(&was.Run):
		w.forked(&a, &was, &now)
	}
	return out, err
}

// fresh is the id of a run that does not exist yet.
type fresh journal.RunID

// made is the run that an action makes, if it does not exist: a fork that is made twice is one.
func (w *world) made(a *driver.AdminAction) fresh {
	if a.Fork == nil {
		return fresh{}
	}
	if _, known := w.db.Run(a.Fork.Run); known {
		return fresh{}
	}
	return fresh(a.Fork.Run)
}

// is tells whether there is one, and a run of which it is made.
func (id fresh) is(of *journal.Run) bool { return id != fresh{} && !of.ID.IsZero() }

// audited is how many entries of the audit are about a run.
func (w *world) audited(run journal.RunID) int {
	list, err := w.db.Audit(context.Background(), journal.AuditFilter{Run: run, Limit: journal.ListMax})
	if err != nil {
		w.breaks("audit", "the audit cannot be read: %v", err)
	}
	return len(list)
}

// childrenOf returns what the database holds of a run's children.
func (w *world) childrenOf(run journal.RunID) (list []memory.RunSnapshot) {
	for _, s := range w.db.Snapshot().Runs {
		if p := s.Run.Parent; p != nil && p.Run == run {
			list = append(list, s)
		}
	}
	return list
}

// goneBack is a rewind that the database has carried out: how a generation of a run began that no commit
// has begun.
type goneBack struct {
	a       driver.AdminAction
	made    journal.RunID     // whose generation it begins: that of a.Run, or a fork
	at      time.Time         // the store's clock
	commits int               // on the tape before it
	closed  *journal.Run      // the run before it, if it was closed
	begin   *journal.Continue // where its inbox begins
	cmds    journal.Cmd       // that the kept events have issued
	copied  journal.InboxSeq  // messages that a fork has from the other run
}

// generation is the place of the generation that it has begun, from 0.
func (b *goneBack) generation() int { return int(b.a.Rewind.Generation) }

// from returns the run and the generation's place from which the kept events are.
func (b *goneBack) from() (journal.RunID, int) { return b.a.Run, int(b.a.Rewind.Generation) - 1 }

// noteBack keeps a rewind on the tape, which is locked.
func (w *world) noteBack(a *driver.AdminAction, was, now *memory.RunSnapshot) *goneBack {
	b := goneBack{a: *a, made: now.Run.ID, at: w.storeClock(), commits: len(w.tape.commits), begin: now.Run.Continued, cmds: commands(now.Events)}
	if was.Run.Status.Closed() {
		b.closed = &was.Run
	}
	if a.Fork != nil {
		b.copied = journal.InboxSeq(len(was.Messages))
	}
	w.tape.backs = append(w.tape.backs, b)
	w.mu.Lock()
	defer w.mu.Unlock()
	if first, known := w.mended[b.made]; a.Reason == mending && (!known || first > now.Run.Generation) {
		w.mended[b.made] = now.Run.Generation
	}
	return &b
}

// commands is how many commands events have issued.
func commands(events []journal.Event) (n journal.Cmd) {
	for i := range events {
		n += journal.Cmd(len(events[i].Issued))
	}
	return n
}

// issuer returns the run and the number of the generation that have issued a command of a generation
// of a run. It follows the copies back to where the command is in an event that is none, so it
// depends on nothing that a store says of it.
func (t *tape) issuer(run journal.RunID, g journal.Generation, cmd journal.Cmd) (journal.RunID, journal.Generation) {
	for _, b := range t.backsOf(run) {
		if b.generation()+1 == int(g) && cmd <= b.cmds {
			return t.issuer(b.a.Run, b.a.Rewind.Generation, cmd)
		}
	}
	return run, g
}

// backsOf returns how generations of a run began, in order. The tape is locked, or all is over.
func (t *tape) backsOf(run journal.RunID) (list []*goneBack) {
	for i := range t.backs {
		if t.backs[i].made == run {
			list = append(list, &t.backs[i])
		}
	}
	return list
}
