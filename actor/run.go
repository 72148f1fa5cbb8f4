package actor

import (
	"errors"
	"strings"
	"time"

	proto "github.com/asynkron/protoactor-go/actor"

	"github.com/reprise-run/reprise/internal/watchdog"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay"
)

// run is the actor of one run. All its fields belong to its mailbox: messages are handled one at a
// time, so nothing here is locked.
//
// phase says what the actor is doing; phase.go has the table. Each message is handled to the end,
// then advance continues as far as it can without waiting, so that between two messages the phase
// tells what the run waits for. In each phase but idle something is certain to send a message: the
// store answers a load or a commit, an attempt ends, or the run's timer fires. In phase failed it
// is the timer.
//
// Orthogonal to the phase are
//
//   - machine, in part: phase committing implies one, but for the commit of needsLimits, and so
//     does ready between two messages; failing, failed and blocking imply none. An idle run may
//     keep one (it is warm), and a loading run has one if it only reads messages.
//   - unconfirmed, which belongs to the activation: it makes loads necessary that could be left
//     out.
//   - handBack, an order of a drain, which activates nothing any more.
//   - rest, which keeps steps from starting: see comeToRest.
//   - task.State, which tells whether the run is on hold: see hold.go.
//   - inputs.news and steps.dirty, each of which gives a turn something to do.
//
// # What memory is worth
//
// The machine runs ahead of the journal by the turn in flight and by uncommitted. If that commit is
// refused, nothing of it has happened, so the machine is worthless: discard throws it away and a
// load builds a new one. There is no way back but replay.
//
// uncommitted is the first turn of a first generation that only asked for steps. It is a function
// of the durable start row alone: whoever takes the run over makes the same turn from the same row.
// So its steps may start before its event is stored, and the event joins the next commit. That
// saves one of two commits of a run with one step.
//
// # Stale answers
//
// Loads, commits and attempts are answered by messages, and an actor outlives what it asked for:
// the run may be lost and claimed again, or the actor may serve another run. epoch counts the
// activations and generations; each answer carries the epoch of its question, and any other one is
// ignored. An attempt also carries its number. The actor's address proves nothing.
type run struct {
	host   *host
	self   *proto.PID
	parent *proto.PID // the shard
	seen   int        // messages from the shard

	phase phase
	epoch int

	info        *journal.Run   // not to be changed: others keep it
	ident       *replay.Info   // the same for workflow code and steps
	paused      *journal.Pause // the pause of a scope that it is in, as far as it knows; nil for none
	task        journal.Task   // as of the last known commit that changed it
	head        journal.Head   // of the stored history, as of the last known commit; Link is 0 until it is known
	changed     time.Time      // local time at which the activation or the last outcome came: see onCompared
	proved      bool           // the head proves the owner: see provesOwner
	unconfirmed bool           // the claim may be out of date: see System.ActivateUnconfirmed
	apart       int            // bytes that the claim had no room for and that are not loaded yet, see driver.Claimed
	handBack    bool           // without waiting for steps: the drain has no time left

	place // that it has in this node

	machine     *replay.Machine
	partial     *partial // a machine in the making; nil unless pages of a long history are loaded
	uncommitted []journal.Event
	inputs      inputs
	steps       steps
	unthawed    bool // a pause has ended, and what froze in it is not known yet: no timer fires, see hold.go
	turn        turn // the last one that was taken
	trouble     trouble

	alarm alarm // advances the run
	trial alarm // ends its trial, see tryRun
	watch watchdog.Watch[*journal.Run]
	read  time.Time // see now
}

// place is the place that an activation has among the runs of its node.
type place struct {
	newcomer *cohort   // in which the activation counts, until its first turn has ended; then nil
	since    time.Time // local time since when the run has had its place
	worked   bool      // it has got something done in this place
	rest     time.Time // until when no step starts, because the run is to give its place back; zero for no rest
	stalled  time.Time // since when all its attempts have been waiting for slots; zero if they have not
	limited  time.Time // since when all its attempts have been waiting for claims of limits; zero if they have not
}

// enter changes the phase.
func (r *run) enter(to phase) {
	from := r.phase
	r.phase = from.change(to)
	if to == idle {
		endNewcomer(r)
	}
	if r.host.onPhase != nil {
		r.host.onPhase(from, to)
	}
}

// endNewcomer says that the activation has come to its first turn's end, or is over.
func endNewcomer(r *run) {
	if r.newcomer != nil {
		r.newcomer.leave()
		r.newcomer = nil
		r.host.roomier()
	}
}

// now estimates the store's clock. It is read once for each message, and again after workflow code
// has run, which may have taken long.
func (r *run) now() time.Time {
	if r.read.IsZero() {
		r.read = r.host.o.Store.Now()
	}
	return r.read
}

// watched calls fn, which runs workflow code, and reports it if it does not come to an await for
// long.
func (r *run) watched(fn func() error) error {
	r.host.watchdog.Begin(&r.watch, r.info)
	defer r.host.watchdog.End(&r.watch)
	defer func() { r.read = time.Time{} }()
	return fn()
}

// wakeIn makes the run advance after d.
func (r *run) wakeIn(d time.Duration) {
	epoch := r.epoch
	r.alarm.set(d, func() { r.host.send(r.self, wake{epoch: epoch}) })
}

// tryRun begins the trial of a run whose last owners died: if this node lives for driver.TrialTime,
// the run has not killed it, and a commit says so by wiping its strikes out. Without that a run
// that executes one long step, and commits nothing meanwhile, would answer for what others do. A
// run whose attempts all wait for slots has shown nothing yet: its trial begins anew when one has
// begun, see noteStall.
func tryRun(r *run) {
	if r.task.Strikes == 0 {
		return
	}
	epoch := r.epoch
	r.trial.set(driver.TrialTime, func() { r.host.send(r.self, survived{epoch: epoch}) })
}

// reportIdle tells the shard what to do with a run that this node does not own: keep it in memory
// as long as it remembers something, else use the actor for another run.
func (r *run) reportIdle() {
	if r.machine == nil && r.trouble.blocks == 0 {
		r.reportVacant()
		return
	}
	r.host.send(r.parent, parked{run: r.info.ID, seen: r.seen})
}

// reportVacant offers the actor to another run, also if it remembers something.
func (r *run) reportVacant() {
	r.host.send(r.parent, vacant{run: r.info.ID, seen: r.seen})
}

// fail gives up on an owned run for a while: its code and its history differ, its code panicked, or
// the engine failed. The state in memory has run ahead of the journal, so it is thrown away. A
// commit that is in flight continues, and its outcome decides what is blocked: the run as it was
// before that turn, or after it, or nothing at all because the turn has closed it.
func (r *run) fail(err error) {
	r.discard(ErrRunLost)
	r.trouble.began(storable(err.Error()))
	if p, ok := errors.AsType[*replay.PanicError](err); ok {
		r.trouble.problem = storable(err.Error()) + "; repair the code and deploy it, the run goes on then"
		r.trouble.stack = p.Stack[:min(len(p.Stack), panicStackBytesMax)]
	}
	if r.phase.inFlight() {
		r.enter(failing)
	} else {
		r.enter(failed)
	}
}

// storable makes text of whatever a panic said: the store would refuse invalid or endless text.
func storable(problem string) string {
	problem = problem[:min(len(problem), problemBytesMax)]
	return strings.ReplaceAll(strings.ToValidUTF8(problem, "?"), "\x00", "?")
}

// lose ends the activation, if there is one: somebody else owns the run, or nobody can tell. What
// is in flight is ignored when it arrives. A killed system has lost all its runs and does not
// report each; and what was never shown to be this node's is not lost.
func (r *run) lose(cause error) {
	owned := r.phase.owned()
	if errors.Is(cause, ErrRunClosed) {
		r.discard(ErrRunClosed)
	} else {
		r.discard(ErrRunLost)
	}
	r.epoch++
	if !owned {
		return
	}
	r.enter(idle)
	if r.host.o.Hooks.Lost != nil && !r.host.killed.Load() && !r.unconfirmed {
		r.host.o.Hooks.Lost(r.info, cause)
	}
	r.host.released()
}

// giveUp leaves the run to whoever owns it now.
func (r *run) giveUp(cause error) {
	r.lose(cause)
	r.reportVacant()
}

// discard throws away all state but the identity. Steps are cancelled with the cause, their answers
// will be ignored. A commit in flight continues; its transaction, if any, is the store's to end.
func (r *run) discard(cause error) {
	r.alarm.stop()
	r.trial.stop()
	r.steps.abandon(r.host.exec, cause)
	r.inputs.abandon(r.host.exec)
	if r.machine != nil {
		r.machine.Close()
	}
	if r.partial != nil {
		r.partial.machine.Close()
	}
	r.machine, r.partial, r.uncommitted, r.handBack = nil, nil, nil, false
	r.inputs.clear()
	r.steps.clear()
}
