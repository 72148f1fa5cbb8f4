package replay

import (
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Env is what workflow code sees of its machine: the verbs of the authoring API are built on it and
// on Scope. It has the state that code can change, each part with its owner:
//
//   - sched runs strands, and says who may call now.
//   - ledger lists or compares what is issued, and numbers it.
//   - Scope and Command hold what can be cancelled and awaited.
//   - outbox gathers what the next Decision will have.
//   - the rest is values that code asks for: signals, records, changes, random numbers.
//
// Its methods are called by workflow code, from a strand. The driver of the machine calls those of
// Machine, while no strand runs. Neither needs a lock for that reason.
type Env struct {
	ledger

	info Info
	enc  Encoder
	log  func(level int, msg string, args []any) // nil for none
	now  time.Time
	root *Scope // nil before the first event

	failing bool // the workflow's function has failed, and Definition.OnFailure was called

	timers  timers
	freezes journal.Freezes // see SetFreezes
	out     outbox
	signals map[string]*SignalQueue // ranged over only where the order does not matter

	blockOnBadSignal bool // see Definition
	cancelFollows    bool // see Machine.CancelFollows

	queries map[string]Query
	updates updates

	records map[string]journal.Payload // the newest value of each RecordIf
	length  length
	random  random

	published published
	labels    labels
	foresight foresight
}

// Info is the identity of the run, as its code sees it: in a generation that begins with events of
// an earlier one, the code goes on to see what that saw (J13). In a fork it sees the other run as
// long as it reacts to events of that, and then the fork: what it does from there on, and whom it
// tells who it is, are the fork's.
func (e *Env) Info() Info {
	i := e.info
	if r := i.Rewound; r != nil && r.Origin != 0 {
		i.Generation, i.InboxSeen = r.Origin, r.Seen
	}
	if was := i.Rewound.ForkAt(e.seq); was != nil {
		if !i.Deadline.IsZero() {
			i.Deadline = was.StartAt.Add(i.Deadline.Sub(i.StartAt))
		}
		i.Run, i.Key, i.Version, i.Queue, i.StartAt, i.Parent = was.Run, was.Key, was.Version, was.Queue, was.StartAt, was.Parent
	}
	i.Rewound = nil
	return i
}

// Encoder turns values into payloads and back.
func (e *Env) Encoder() Encoder { return e.enc }

// Root is the scope of the run: a cancel request cancels it.
func (e *Env) Root() *Scope { return e.root }

// Now is workflow time: the time of the event being processed.
func (e *Env) Now() time.Time {
	if e.foresight.untimed && !e.unwinding {
		e.undecided("the time at which the run goes on")
	}
	return e.now
}

// Log writes a line about what is new to this machine: it is silent during Replay, in read-only
// code and while strands are unwound.
func (e *Env) Log(level int, msg string, args []any) {
	if e.log != nil && !e.replaying && !e.readOnly && !e.unwinding {
		e.log(level, msg, args)
	}
}

// resolve gives a command its outcome and wakes the strands that wait for it.
func (e *Env) resolve(c *Command, o Outcome) {
	c.outcome = o
	c.body = nil // it may hold much
	c.scope.commands.Remove(&c.node)
	e.open.remove(c.cmd)
	e.Broadcast(&c.cond)
}
