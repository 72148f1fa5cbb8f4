package replay

import (
	"time"

	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/journal"
)

// Definition is a workflow that a machine can run. The workflow package makes them.
type Definition struct {
	Name    string
	Version int32
	// Run decodes the input, runs the user's function in the machine's root strand and encodes its
	// output. The machine calls it with its root scope; what stands around it may call it with one
	// below.
	Run func(sc *Scope, input journal.Payload) (journal.Payload, error)
	// OnFailure is called in the root strand, with a scope that is not cancelled, if the run is to
	// fail with err; nil for nothing. It returns the error with which the run fails.
	OnFailure func(sc *Scope, err error) error
	// Timeout is how long a run may take whose start gave it no time, from Info.StartAt on; 0 for
	// as long as it takes. It is not compared with the history, so it may change at any time.
	Timeout time.Duration
	// BlockOnBadSignal makes a signal that does not decode stop the machine, instead of being set
	// aside: see Env.Sift.
	BlockOnBadSignal bool
}

// Machine runs the code of one generation of a run as a function of its events. It is what drives
// Env, which is what the code sees. Its methods are for one goroutine at a time; those that take an
// event run workflow code on coroutines and return when all of it is blocked.
//
// A machine is in one of five states:
//
//	new       no event yet: the first is RunStarted
//	at rest   its code waits, and events go on
//	finished  the code has returned: Take has the terminal event, and only that is taken
//	sealed    the history has its terminal event
//	dead      an error, or Close: every call that takes an event returns it
//
// Queries are answered in every state but dead. The package story has the picture.
//
// What holds at every rest: the state is a function of the definition, the Info and the events
// taken. The same events give the same strands, open commands, timers and queues, whether they came
// by Replay or by Step, because code learns of nothing else. It does not hold within a turn, so no
// method may be called while one runs.
type Machine struct {
	env Env
	def *Definition

	link        journal.Link // of the last event, see Head
	inboxSeen   journal.InboxSeq
	cancelledBy journal.Message // that cancelled the root scope; without a number for none
	deadline    time.Time       // when the run's time is up if it never stands still; zero for never
	timeUp      time.Time       // when it is up; zero for never, or if it stands still

	terminal *journal.Event    // what the code decided; nil while it runs
	next     *journal.Continue // with a terminal that is RunContinued
	carried  []journal.Message // what next.Carried names
	taken    bool              // Take has handed out the terminal decision
	sealed   bool              // the history has its terminal event
}

// New returns a machine that has seen no event. The first one it takes is RunStarted.
func New(def *Definition, info Info, enc Encoder) *Machine {
	m := &Machine{def: def, link: OriginOf(&info), inboxSeen: info.InboxSeen}
	e := &m.env
	e.info, e.enc, e.onlySteps, e.budget = info, enc, true, actionsMax
	e.blockOnBadSignal = def.BlockOnBadSignal
	if m.deadline = info.Deadline; m.deadline.IsZero() && def.Timeout > 0 && !info.StartAt.IsZero() {
		m.deadline = info.StartAt.Add(def.Timeout)
	}
	m.timeUp = m.deadline
	e.out.children = info.Generation > 1 // an earlier one may have started some
	e.length.limit = Thresholds{Events: continueEvents, Bytes: continueBytes}
	return m
}

// Info is the identity of the run.
func (m *Machine) Info() Info { return m.env.info }

// SetLog tells where the lines go that workflow code logs.
func (m *Machine) SetLog(log func(level int, msg string, args []any)) { m.env.log = log }

// CancelFollows tells a machine with Definition.BlockOnBadSignal whether a cancel request waits
// behind the messages that it is about to take.
func (m *Machine) CancelFollows(follows bool) { m.env.cancelFollows = follows }

// Now is workflow time: the time of the last event.
func (m *Machine) Now() time.Time { return m.env.now }

// LastSeq is the Seq of the last event applied, 0 for a new machine.
func (m *Machine) LastSeq() journal.Seq { return m.env.seq }

// Head identifies the history that the machine has taken. The machine is current exactly if the
// stored history has the same head.
func (m *Machine) Head() journal.Head { return journal.Head{Seq: m.env.seq, Link: m.link} }

// Waits tells whether the command has no outcome yet.
func (m *Machine) Waits(cmd journal.Cmd) bool { return m.env.open.find(cmd) != nil }

// InboxSeen is the number of the newest message consumed.
func (m *Machine) InboxSeen() journal.InboxSeq { return m.inboxSeen }

// Finished tells whether the code has returned: either Take has the terminal event or the history.
func (m *Machine) Finished() bool { return m.terminal != nil || m.sealed }

// Closed tells whether the machine takes no more events: Close was called, an error made it dead,
// or the history has its terminal event.
func (m *Machine) Closed() bool { return m.env.err != nil || m.sealed }

// Effects is how many children, messages and replies the next Take has.
func (m *Machine) Effects() int { return m.env.out.effects() }

// EffectBytes is how many bytes these carry.
func (m *Machine) EffectBytes() int { return m.env.out.effectBytes() }

// Take returns what was asked for since the last Take. Nothing is kept for it during Replay but the
// terminal decision, and nothing at all by a dead machine.
func (m *Machine) Take() Decision {
	if m.env.err != nil {
		return Decision{}
	}
	d := m.env.out.decision(m.terminal != nil)
	d.Published, d.Labels = m.env.published.take(), m.env.labels.take()
	if m.terminal != nil && !m.sealed && !m.taken {
		d.Terminal, d.Children, d.Continue, m.taken = m.terminal, m.env.out.children, m.next, true
	}
	d.OnlySteps = m.env.onlySteps && len(d.Steps) > 0 && d.Terminal == nil
	m.env.onlySteps = true
	return d
}

// Pending returns the steps without outcome in the order they were asked for: after a replay they
// are to be started again.
func (m *Machine) Pending() []Step {
	var steps []Step
	for _, c := range m.env.open.steps() {
		c.handed = true
		steps = append(steps, c.step())
	}
	return steps
}

// Close ends all strands: their deferred calls run, awaits in them end as well, and what they ask
// for is dropped. It may be called again. A machine that is not needed any more must be closed,
// because each strand holds a coroutine.
func (m *Machine) Close() {
	m.unwind(false)
	m.env.fail(ErrClosed)
}

// unwind ends all strands in spawn order, and drops what is open.
func (m *Machine) unwind(trace bool) callsite.Site {
	first := m.env.sched.unwind(trace)
	m.env.timers, m.env.signals = nil, nil
	m.env.open.clear()
	return first
}
