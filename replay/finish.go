package replay

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-run/reprise/journal"
)

// ContinueError is returned by a workflow's function to begin the next generation of its run.
// Wrapping it is allowed.
type ContinueError struct {
	Input   journal.Payload
	Version int32 // of the workflow; 0 for the same
}

func (e *ContinueError) Error() string {
	return "continue as new: to be returned by the workflow's function"
}

// run runs the workflow's function, and what is to be done if it fails. That the run fails is
// decided before: what comes while OnFailure waits, and what that returns, makes no other end of
// it.
func (m *Machine) run() (journal.Payload, error) {
	e := &m.env
	output, err := m.def.Run(e.root, e.info.Input)
	if err == nil || m.def.OnFailure == nil || e.unwinding || e.wrong(err) != nil || e.ending(err) != journal.RunFailed {
		return output, err
	}
	e.failing = true
	return output, m.def.OnFailure(e.root.Shield(), err)
}

// finish turns what the workflow's function returned into the terminal decision. Steps that still
// run are asked to stop: nobody will wait for them. A step that was never handed to an executor
// needs no stopping.
//
// What only wrong code returns ends no run: an output that cannot be stored, or the refusal of a
// name or an option that no journal takes. Such a machine is dead, so the run goes on when the code
// is mended. A history that ended so by an older release still fits.
func (m *Machine) finish(output journal.Payload, err error) {
	e := &m.env
	if e.unwinding {
		return
	}
	if wrong := e.wrong(err); wrong != nil {
		e.fail(wrong)
		return
	}
	ev := &journal.Event{Kind: e.ending(err), Payload: output}
	if next, ok := errors.AsType[*ContinueError](err); ok && ev.Kind == journal.RunContinued {
		ev.Payload = e.info.Input
		m.next = m.successor(next)
	} else if err != nil {
		ev.Payload = journal.EncodeFailure(e.failureOf(err))
	}
	if ev.Kind == journal.RunFailed {
		startOnFailure(e, ev.Payload)
	}
	m.terminal, e.returned = ev, true
	if e.replaying {
		return
	}
	if m.next != nil {
		e.out.replies = append(e.out.replies, e.updates.abort()...)
	}
	for _, c := range e.open.steps() {
		if c.handed && !c.cancelled {
			e.out.cancels = append(e.out.cancels, c.cmd)
		}
	}
}

// ending is the event with which a run ends whose function returns err.
func (e *Env) ending(err error) journal.Kind {
	if err == nil {
		return journal.RunCompleted
	}
	if e.failing {
		return journal.RunFailed
	}
	if _, ok := errors.AsType[*ContinueError](err); ok {
		return journal.RunContinued
	}
	if errors.Is(e.root.err, ErrCancelled) && errors.Is(err, ErrCancelled) {
		return journal.RunCancelled
	}
	return journal.RunFailed
}

// StopIfWrong stops the machine if err, which the workflow's function has returned, is of wrong
// code. Called from workflow code it does not return then. It is for what stands between the
// function and the machine, before it reacts: what it would ask for in reaction would be in the
// history, and in the way of code that does not return such an error.
func (e *Env) StopIfWrong(err error) {
	if wrong := e.wrong(err); wrong != nil && !e.unwinding {
		e.Abort(wrong)
	}
}

// wrong returns why the run must wait for better code instead of ending with err, nil if it may
// end.
func (e *Env) wrong(err error) error {
	if e.replaying || !wrongCode(err) {
		return nil
	}
	return fmt.Errorf("the run waits for better code; the workflow returned: %w", err)
}

// wrongCode tells whether an error says that the code asked for what no journal takes. What a step
// or a child says is not about the code: that may be any error, which is restored from the history.
func wrongCode(err error) bool {
	switch e := err.(type) {
	case nil, *StepError, *ChildError, *SignalError:
		return false
	case *EncodeError:
		return true
	case interface{ Is(error) bool }:
		if e.Is(journal.ErrInvalid) {
			return true
		}
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return wrongCode(e.Unwrap())
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), wrongCode)
	}
	return err == journal.ErrInvalid
}

// successor says how the next generation begins. Signals that the code has not received and a
// cancel request were events of this generation, but are not done with: they are carried, and come
// first in the next one's inbox, in the order in which they came.
func (m *Machine) successor(by *ContinueError) *journal.Continue {
	next := &journal.Continue{Input: by.Input, Version: by.Version, Seen: m.inboxSeen}
	if next.Version == 0 {
		next.Version = m.env.info.Version
	}
	for name, q := range m.env.signals { // sorted below
		m.carried = append(m.carried, q.messages(name)...)
	}
	if m.cancelledBy.Number != 0 {
		m.carried = append(m.carried, m.cancelledBy)
	}
	slices.SortFunc(m.carried, func(a, b journal.Message) int { return cmp.Compare(a.Number, b.Number) })
	for i := range m.carried {
		next.Carried = append(next.Carried, m.carried[i].Number)
	}
	return next
}

// abort answers the updates whose handlers the end of the generation cuts off. They were accepted,
// and their handlers may have asked for anything, so in the next generation they must be neither
// validated nor handled again: that would be a second effect of one update. A run that closes has
// no need to answer: its end does.
func (u *updates) abort() (replies []journal.Reply) {
	for _, number := range u.running {
		f := &journal.Failure{Type: journal.FailureAborted, Message: abortedText, Permanent: true}
		replies = append(replies, journal.Reply{Number: number, Payload: journal.EncodeFailure(f)})
	}
	return replies
}

const abortedText = "the run continued as new before the handler had answered. The update was accepted and may have had effects; " +
	"it is not handled again. A workflow that waits for workflow.HandlersFinished before it continues as new answers every update"
