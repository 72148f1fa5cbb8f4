package actor

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	proto "github.com/asynkron/protoactor-go/actor"

	"github.com/reprise-run/reprise/internal/watchdog"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// run is the actor of one run. All fields belong to its mailbox goroutine.
type run struct {
	sys    *System
	self   *proto.PID
	parent *proto.PID
	seen   int // messages forwarded by the shard

	info        *journal.Run // not to be changed: others keep it
	ident       *replay.Info // the same for workflow code and steps
	task        journal.Task // as of the last known commit
	owned       bool
	unconfirmed bool // the run may have moved on since it was claimed: a load compares owner and fence first
	epoch       int  // activations so far; answers to earlier ones are stale

	machine     *replay.Machine  // nil until loaded, and after every commit when passivating always
	uncommitted []journal.Event  // of a first turn that only asked for steps: they ride with the next commit
	queue       []occurrence     // for the next turn, in order of arrival
	inboxGot    journal.InboxSeq // newest message that was put into queue
	inboxNews   bool             // the inbox may hold messages behind inboxGot
	steps       map[journal.Cmd]*step
	dirty       bool      // attempts have changed since the last commit
	saved       time.Time // when heartbeats were last made durable

	flight  *turn // the turn whose commit is in flight
	loading bool
	problem string    // why the run is to be blocked; set instead of going on
	stack   string    // of the panic that the problem is, until it is reported
	blocks  int       // times it was blocked since it last went on
	recall  time.Time // until then the next block's back-off follows from this one
	abandon bool      // hand back without waiting for steps
	timer   *time.Timer
	watch   watchdog.Watch[*journal.Run]
	scratch turn      // used again by every turn
	read    time.Time // see now
}

// Receive implements proto.Actor. No panic leaves it: the library's supervision would lose messages and
// keep no stack.
func (r *run) Receive(ctx proto.Context) {
	defer func() {
		if p := recover(); p != nil {
			r.crash(fmt.Sprintf("the engine failed: %v\n%s", p, debug.Stack()))
		}
	}()
	r.read = time.Time{}
	switch m := ctx.Message().(type) {
	case *proto.Started:
		r.self, r.parent = ctx.Self(), ctx.Parent()
	case *proto.Stopping:
		r.lose(ErrRunLost)
	case *activate:
		r.seen++
		r.onActivate(m.claimed, m.unconfirmed)
	case attention:
		r.seen++
		r.inboxNews = true
		r.goOn()
	case drain:
		r.seen++
		r.abandon = r.abandon || m.abandon
		r.goOn()
	case passivate:
		r.seen++
		switch {
		case r.owned:
		case !m.full && r.now().Before(r.recall):
			r.idle() // costs next to nothing: a blocked run has no machine
		default:
			r.discard(ErrRunLost)
			r.finish()
		}
	case loaded:
		if m.epoch == r.epoch && r.loading {
			r.onLoaded(m)
		}
	case *committed:
		if m.epoch == r.epoch && r.flight != nil {
			r.onCommitted(m)
		}
	case *stepDone:
		r.onStepDone(m)
	case beat:
		r.onBeat(m)
	case wake:
		if m.epoch == r.epoch {
			r.pump()
		}
	}
}

// goOn takes a message of the shard that an idle run has no use for. It may have overtaken the run's word that it is
// idle, which is void then.
func (r *run) goOn() {
	if r.owned {
		r.pump()
	} else {
		r.idle()
	}
}

// idle tells the shard what to do with a run that is nobody's or somebody else's: stop it, or keep it warm as long
// as it knows something.
func (r *run) idle() {
	if r.machine == nil && r.blocks == 0 {
		r.finish()
		return
	}
	r.sys.proto.Root.Send(r.parent, parked{run: r.info.ID, seen: r.seen})
}

// now estimates the store's clock. It reads it once for each message, and again after workflow code has run.
func (r *run) now() time.Time {
	if r.read.IsZero() {
		r.read = r.sys.o.Store.Now()
	}
	return r.read
}

func (r *run) send(msg any) { r.sys.proto.Root.Send(r.self, msg) }

// onActivate takes a claimed task. If the actor is warm and nobody committed since, it goes on from where it
// stands.
func (r *run) onActivate(c *journal.Claimed, unconfirmed bool) {
	if r.info == nil || c.Run.ID != r.info.ID {
		*r = run{sys: r.sys, self: r.self, parent: r.parent, seen: r.seen, epoch: r.epoch, scratch: r.scratch}
	}
	if c.Task.Fence <= r.task.Fence { // told twice, or late: see journal.ClaimRequest.Reconcile
		r.sys.released()
		r.goOn()
		return
	}
	if r.owned && !r.overtaken(c) {
		r.lose(journal.ErrFenced)
	}
	warm := r.machine != nil && r.task.Turn == c.Task.Turn && r.task.Generation == c.Task.Generation
	if !warm {
		r.discard(ErrRunLost)
	}
	r.epoch++
	r.owned, r.info, r.task, r.problem, r.stack, r.unconfirmed = true, &c.Run, c.Task, "", "", unconfirmed
	r.inboxNews = c.Task.InboxLast > r.inboxGot
	if !warm {
		r.steps = map[journal.Cmd]*step{}
		r.inboxNews = c.Task.InboxLast > 0
	}
	r.pump()
}

// overtaken tells whether the claim is of a task that this actor has just freed, and came before the answer of
// the commit that freed it. Only the owner of a fence adds a turn under it, so the claim proves that the commit was written.
func (r *run) overtaken(c *journal.Claimed) bool {
	if r.flight == nil || c.Task.Fence != r.task.Fence+1 || c.Task.Turn != r.task.Turn+1 {
		return false
	}
	kind := r.flight.commit.Next.Kind
	r.forget(r.flight.drop)
	r.flight, r.owned, r.uncommitted = nil, false, nil
	r.task.Turn++
	if kind != journal.NextPark || r.sys.o.PassivateAlways {
		r.discard(ErrRunLost)
	}
	if kind != journal.NextBlock {
		r.blocks, r.recall = 0, time.Time{}
	}
	r.sys.released()
	return true
}

// pump goes on as far as it can: block, load, fetch messages, or take a turn.
func (r *run) pump() {
	switch {
	case !r.owned || r.flight != nil || r.loading:
	case r.problem != "":
		r.submitBlock()
	case r.machine == nil:
		r.load()
	case r.inboxNews && len(r.queue) < turnEventsMax:
		r.fetch() // a full turn's worth is taken first: the inbox may be larger than memory
	default:
		r.turn()
	}
}

// load builds the machine from the journal. A run that never committed and has no messages has nothing to load.
func (r *run) load() {
	if r.task.Turn == 0 && !r.inboxNews && !r.unconfirmed {
		r.rebuild(nil)
		return
	}
	r.request(journal.LoadRequest{Run: r.info.ID, AfterInbox: r.inboxGot})
}

// fetch reads the messages behind the newest one known.
func (r *run) fetch() {
	r.request(journal.LoadRequest{Run: r.info.ID, AfterInbox: r.inboxGot, InboxOnly: true})
}

func (r *run) request(q journal.LoadRequest) {
	r.loading, r.inboxNews = true, false
	epoch := r.epoch
	r.sys.o.Store.Load(q, func(h journal.History, err error) {
		r.send(loaded{epoch: epoch, history: h, err: err})
	})
}

func (r *run) onLoaded(m loaded) {
	r.loading = false
	switch err := errors.Join(m.err, m.history.Err); {
	case errors.Is(err, journal.ErrNodeLost):
		r.drop(err)
		return
	case errors.Is(err, journal.ErrNotFound) || err == nil && m.history.Run.Task == nil:
		r.drop(fmt.Errorf("%w: it was closed or deleted", journal.ErrFenced))
		return
	case err == nil && !r.owns(m.history.Run.Task):
		r.drop(journal.ErrFenced) // its steps would run for nothing
		return
	case err != nil:
		r.block(fmt.Sprintf("the history cannot be read: %v", err))
		return
	}
	for _, msg := range m.history.Inbox {
		if msg.Number > r.inboxGot {
			r.queue = append(r.queue, occurrence{at: msg.Time, message: &msg})
			r.inboxGot = msg.Number
		}
	}
	if last := m.history.Run.Task.InboxLast; last > r.inboxGot && len(m.history.Inbox) > 0 {
		r.inboxNews = true // more than one load gives
	} else {
		r.inboxGot = max(r.inboxGot, last) // those behind it are consumed, perhaps without an event
	}
	if r.machine == nil {
		r.rebuild(m.history.Events)
		return
	}
	r.pump()
}

// owns tells whether a stored task is the one that this activation is about.
func (r *run) owns(t *journal.Task) bool {
	return t.Owner == r.sys.o.Node && t.Fence == r.task.Fence
}

// rebuild replays the journaled events, then those of a first turn that is not journaled yet.
func (r *run) rebuild(events []journal.Event) {
	def := r.sys.o.Lookup(r.info.Workflow, r.info.Version)
	if def == nil {
		r.block(fmt.Sprintf("workflow %q version %d is not registered here", r.info.Workflow, r.info.Version))
		return
	}
	began := time.Now()
	ident := replay.InfoOf(r.info)
	r.ident = &ident
	m := replay.New(def, ident, r.sys.o.Store)
	m.SetThresholds(r.sys.o.Thresholds)
	r.machine = m
	err := r.watched(func() error {
		for i := range events {
			if err := m.Replay(&events[i]); err != nil {
				return err
			}
		}
		for i := range r.uncommitted {
			if err := m.Step(&r.uncommitted[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		r.blockFor(err)
		return
	}
	if !m.Finished() { // else changed code returned where it used to wait: the next turn takes that
		m.Take() // what it asks for is pending, see adopt
	}
	if r.sys.o.Hooks.Log != nil { // not before: the events of a first turn were new once already
		m.SetLog(func(level int, msg string, args []any) { r.sys.o.Hooks.Log(r.info, level, msg, args) })
	}
	if r.sys.o.Hooks.Replayed != nil && len(events) > 0 {
		r.sys.o.Hooks.Replayed(r.info.ID, len(events), time.Since(began))
	}
	if !r.inboxNews { // else messages that were carried over may be behind inboxGot
		r.inboxGot = max(r.inboxGot, m.InboxSeen())
	}
	r.adopt()
	r.pump()
}

// watched runs workflow code and reports it if it does not come to an await for long.
func (r *run) watched(fn func() error) error {
	r.sys.watchdog.Begin(&r.watch, r.info)
	defer r.sys.watchdog.End(&r.watch)
	defer func() { r.read = time.Time{} }() // fn may have taken long
	return fn()
}

// blockFor is block for an error of the machine.
func (r *run) blockFor(err error) {
	if p, ok := errors.AsType[*replay.PanicError](err); ok {
		r.stack = p.Stack[:min(len(p.Stack), panicStackBytesMax)]
	}
	r.block(err.Error())
}

// block gives up on the run for a while: its code and its history disagree, or its code panicked. The state
// in memory has run ahead of the journal, so it is thrown away.
func (r *run) block(problem string) {
	owned := r.owned
	r.discard(ErrRunLost)
	r.owned, r.problem = owned, storable(problem)
	r.pump()
}

// storable makes text of whatever a panic said: invalid or endless text would be refused by the store.
func storable(problem string) string {
	problem = problem[:min(len(problem), problemBytesMax)]
	return strings.ReplaceAll(strings.ToValidUTF8(problem, "?"), "\x00", "?")
}

// crash is block for our own bugs.
func (r *run) crash(problem string) {
	switch {
	case !r.owned:
		r.drop(errors.New(problem))
	case r.problem != "": // blocking itself failed
		r.blockLater()
	default:
		r.block(problem) // if a commit is in flight, its outcome comes first
	}
}

// drop leaves the run to whoever owns it now.
func (r *run) drop(cause error) {
	r.lose(cause)
	r.finish()
}

func (r *run) lose(cause error) {
	owned := r.owned
	r.discard(ErrRunLost)
	r.flight = nil
	r.epoch++
	if owned {
		if r.sys.o.Hooks.Lost != nil && !r.sys.killed.Load() {
			r.sys.o.Hooks.Lost(r.info, cause)
		}
		r.sys.released()
	}
}

// discard forgets everything but the identity. Steps are cancelled, their results will be ignored. A commit in
// flight goes on: its transaction, if any, is the store's to end.
func (r *run) discard(cause error) {
	r.stopTimer()
	for _, s := range r.steps {
		s.abandon(r.sys, cause)
	}
	for _, o := range r.queue {
		o.rollback(r.sys)
	}
	if r.machine != nil {
		r.machine.Close()
	}
	r.machine, r.queue, r.uncommitted, r.steps = nil, nil, nil, nil
	r.owned, r.loading, r.inboxGot, r.dirty, r.abandon = false, false, 0, false, false
}

// finish asks the shard to stop this actor, unless the shard has sent more in the meantime.
func (r *run) finish() {
	r.sys.proto.Root.Send(r.parent, finished{run: r.info.ID, seen: r.seen})
}

func (r *run) stopTimer() {
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
}
