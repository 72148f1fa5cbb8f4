package replay

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/internal/list"
	"github.com/reprise-run/reprise/journal"
)

// Body is a step's function: see Step.Body.
type Body func(ctx context.Context, tx any) (journal.Payload, error)

// Outcome tells whether and how a command resolved.
type Outcome uint8

// The outcomes of commands.
const (
	Unresolved Outcome = iota // no answer yet
	Completed                 // a step's StepCompleted, a timer's TimerFired, and so on
	Failed                    // a step's StepFailed, a child's ChildFailed, and so on
	Cancelled                 // nobody waits any more, or the scope was cancelled before the command was issued
)

// Command is something that code asked for and that has an answer: a step, a timer, a child, a
// signal to another run.
//
// It resolves exactly once: with the event that answers it, or by a cancellation that does not
// wait for one. Until then it is in three places, which resolve takes it out of: the ledger's
// openList, the list of its scope, and, if it is a timer, the heap of timers. So what is open,
// what a cancelled scope has to stop and what is due are always the same commands.
//
// A step or a child that is asked to stop stays open in the mode WaitOutcome, because only its
// outcome tells whether it took effect.
type Command struct {
	scope *Scope // also if it was refused: the machine is found through it
	cond  Cond
	node  list.Node[Command] // in the scope's open commands

	name    string
	at      time.Time       // a step's time of issue; when a timer comes, see SetFreezes
	run     journal.RunID   // the child, or the signal's receiver
	payload journal.Payload // output or failure, raw until somebody wants it
	err     error           // why it was cancelled or asked to stop

	options *StepOptions // of a step
	body    Body         // of a step
	fired   func()       // of a scope's deadline: runs when the timer fires

	// The small fields stand together: there is a Command for every step of a replay.
	cmd       journal.Cmd // 0 if it was never issued
	attempts  int32
	heap      int32 // of an armed timer: its place in the heap
	kind      journal.CommandKind
	mode      CancelMode
	outcome   Outcome
	cancelled bool // a step or a child was asked to stop
	handed    bool // Take or Pending gave the step to an executor
}

// Step issues a step. In a cancelled scope it is not issued and resolves as Cancelled.
func (sc *Scope) Step(name string, o *StepOptions, body Body) *Command {
	c := &Command{scope: sc, kind: journal.CommandStep, name: name, at: sc.env.now, options: o, body: body, mode: o.OnCancel}
	if sc.issue(c, "") && sc.env.replaying {
		c.handed = true
	} else if c.cmd != 0 {
		sc.env.out.asked = append(sc.env.out.asked, c)
	}
	return c
}

// Timer issues a timer that fires after d. In a cancelled scope it is not issued and resolves as
// Cancelled; with d <= 0 it is not issued and resolves as Completed.
func (sc *Scope) Timer(name string, d time.Duration) *Command {
	c := &Command{scope: sc, kind: journal.CommandTimer, name: name, at: due(sc.env.now, d)}
	if d <= 0 && sc.err == nil {
		sc.env.spend()
		c.outcome = Completed
		return c
	}
	if sc.issue(c, "") {
		c.at = putOff(sc.env.freezes, sc.env.now, c.at)
		sc.env.timers.arm(c)
	}
	return c
}

// due is when a timer of d fires. It is rounded up to the precision of stores, so that a timer
// that is read back from one is never due earlier.
func due(now time.Time, d time.Duration) time.Time {
	t := now.Add(d)
	if rounded := t.Truncate(time.Microsecond); rounded.Before(t) {
		return rounded.Add(time.Microsecond)
	}
	return t
}

// issue gives the command its number and puts it among the open ones. It returns false for a
// command that is not issued: it is resolved as Cancelled then, or, while strands are unwound,
// left open for nobody.
func (sc *Scope) issue(c *Command, detail string) bool {
	e := sc.env
	c.cond.cmd = c
	switch {
	case e.readOnly:
		c.outcome, c.err = Cancelled, e.refuseReadOnly()
		return false
	case e.unwinding:
		return false // dropped: whoever awaits it unwinds as well
	case sc.err != nil:
		e.spend()
		c.outcome, c.err = Cancelled, sc.err
		return false
	}
	got := journal.Issued{Kind: c.kind, Name: c.name, Detail: detail}
	if c.kind == journal.CommandTimer {
		got.Due = c.at
	}
	if !e.issue(got) {
		return false
	}
	c.cmd = e.open.add(c)
	sc.commands.PushBack(&c.node, c)
	return true
}

// Cancel asks an open command to end; on anything else it does nothing. A timer resolves at once,
// a step or a child as its mode says. A signal to another run cannot be taken back. It reports
// whether the command was still open and had not been asked before.
func (c *Command) Cancel() bool {
	e := c.scope.env
	if e.unwinding || c.outcome != Unresolved || c.cmd == 0 || c.cancelled || c.kind == journal.CommandSend {
		return false
	}
	if !e.issue(journal.Issued{Kind: journal.CommandCancel, Target: c.cmd}) {
		return false
	}
	e.open.add(nil)
	c.cancelled = true
	if c.err = c.scope.err; c.err == nil {
		c.err = ErrCancelled
	}
	if c.kind == journal.CommandTimer {
		e.timers.disarm(c)
		e.resolve(c, Cancelled)
		return true
	}
	if !e.replaying {
		c.stop()
	}
	if c.mode != WaitOutcome {
		e.resolve(c, Cancelled)
	}
	return true
}

// stop puts a cancellation into the outbox: for a step a context to be cancelled, for a child a
// cancel request.
func (c *Command) stop() {
	e := c.scope.env
	if c.kind == journal.CommandChild {
		if c.mode != Abandon {
			e.out.messages = append(e.out.messages, journal.Message{Run: c.run, Kind: journal.MessageCancel, Payload: cancelReason(c.err)})
		}
		return
	}
	if c.mode != Abandon {
		e.out.cancels = append(e.out.cancels, c.cmd)
	}
	if c.mode != WaitOutcome {
		e.out.drops = append(e.out.drops, c.cmd)
	}
}

// cancelReason is the payload of a cancel request to a child. It has the reason alone: the child
// puts the word "cancelled" before it.
func cancelReason(err error) journal.Payload {
	f := &journal.Failure{Type: journal.FailureCancelled, Message: err.Error()}
	if e, ok := err.(*scopeError); ok && e.kind == ErrCancelled {
		f.Message = e.reason
	} else if err == ErrCancelled {
		f.Message = ""
	}
	return journal.EncodeFailure(f)
}

// Outcome tells whether and how the command resolved.
func (c *Command) Outcome() Outcome { return c.outcome }

// Resolved tells whether the command has its outcome.
func (c *Command) Resolved() bool { return c.outcome != Unresolved }

// Name is the name of the step, the timer, the child's workflow or the signal.
func (c *Command) Name() string { return c.name }

// Kind is the word for what the command asks for.
func (c *Command) Kind() string { return c.kind.String() }

// Env returns what the command belongs to.
func (c *Command) Env() *Env { return c.scope.env }

// Err is why the command was cancelled, or asked to stop.
func (c *Command) Err() error { return c.err }

// Run is the child, or the receiver of the signal. The id of a child that is foreseen is undecided,
// because the time is part of it. What code does that does not look at the id follows all the same.
func (c *Command) Run() journal.RunID {
	if e := c.scope.env; c.kind == journal.CommandChild && e.foresight.hasNoTime(c.cmd) && !e.unwinding && e.running.Load().here() {
		e.undecided("the id of child " + c.name)
	}
	return c.run
}

// Output is the output of a completed step or child.
func (c *Command) Output() journal.Payload { return c.payload }

// Failure is the error of a failed command: a *StepError, *ChildError or *SignalError. A failure
// that cannot be read stops the machine, and the call does not return.
func (c *Command) Failure() error {
	f, err := journal.DecodeFailure(c.payload)
	if err != nil {
		c.scope.env.Abort(&DecodeError{What: "failure of " + c.String(), Err: err})
	}
	switch c.kind {
	case journal.CommandChild:
		return &ChildError{Workflow: c.name, Run: c.run, Failure: f, scope: c.err}
	case journal.CommandSend:
		return &SignalError{Signal: c.name, Run: c.run, Failure: f}
	}
	return &StepError{Step: c.name, Attempts: int(c.attempts), Failure: f, scope: c.err}
}

// Cond is broadcast when the command resolves.
func (c *Command) Cond() *Cond { return &c.cond }

// Await parks the running strand until the command resolves. If sc is cancelled first it returns
// sc's error, unless the command is a step or a child that was asked to stop: its outcome is waited
// for.
func (c *Command) Await(sc *Scope) error {
	e := c.scope.env
	s, err := e.current()
	if err != nil {
		return err
	}
	for c.outcome == Unresolved {
		if sc.err != nil && !c.cancelled {
			return sc.err
		}
		s.waiters = append(s.waiters[:0], waiter{strand: s, cond: &c.cond})
		if err := e.park(s, sc); err != nil {
			return err
		}
	}
	return nil
}

// String is the command in the form of Waiting.
func (c *Command) String() string {
	switch {
	case c.kind == journal.CommandTimer && c.at.Equal(never):
		return "timer " + c.name + ", frozen"
	case c.kind == journal.CommandTimer:
		return journal.Issued{Kind: c.kind, Name: c.name, Due: c.at}.String()
	case c.kind == journal.CommandSend && c.name == "":
		return "cancel request to " + c.run.String()
	}
	return c.kind.String() + " " + c.name
}

func (c *Command) step() Step {
	return Step{Cmd: c.cmd, Name: c.name, IssuedAt: c.at, Cancelled: c.cancelled, Options: c.options, Body: c.body}
}
