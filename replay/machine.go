package replay

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Definition is a workflow that a machine can run. The workflow package makes them.
type Definition struct {
	Name    string
	Version int32
	// Run decodes the input, runs the user's function in the machine's root strand and encodes its output.
	Run func(m *Machine, input journal.Payload) (journal.Payload, error)
}

// Machine runs the code of one run as a function of its events. Its methods are for one goroutine at a
// time; they run workflow code on coroutines and return when all of it is blocked.
type Machine struct {
	def  *Definition
	info Info
	enc  Encoder
	log  func(level int, msg string, args []any) // nil for none

	now       time.Time
	seq       journal.Seq
	inboxSeen journal.InboxSeq

	strands    strands
	conditions *conditions            // of Scope.Until; nil before the first
	running    atomic.Pointer[strand] // nil while no workflow code runs; atomic to refuse foreign goroutines
	root       *Scope
	open       openList
	timers     timers
	mailboxes  map[string]*Mailbox // ranged over only where the order does not matter
	queries    map[string]Query
	updates    updates
	records    map[string]journal.Payload // the newest value of each RecordIf
	changes    Changes
	bytes      int  // of all payloads so far, recorded ones among them
	children   bool // some generation may have started a child
	// cancelledBy is the message that cancelled the root scope, 0 for none.
	cancelledBy journal.InboxSeq
	rand        *rand.Rand
	ids         *rand.Rand

	hint Thresholds
	long bool // the history is, and says so

	// About the event being processed.
	event     *journal.Event
	replaying bool
	readOnly  bool             // see ReadOnly
	looked    bool             // a condition looked at what comes from outside
	issued    []journal.Issued // of Step
	volume    int              // bytes of all that was issued
	matched   int              // of Replay: how many of event.Issued were issued
	spent     int

	// About the next Take.
	asked     []*Command
	cancels   []journal.Cmd
	drops     []journal.Cmd
	starts    []journal.Start
	messages  []journal.Message
	replies   []journal.Reply
	onlySteps bool
	taken     bool // the terminal decision was handed out

	terminal  *journal.Event // what the code decided; nil while it runs
	next      *journal.Continue
	sealed    bool // the history has its terminal event
	unwinding bool
	doomed    error // why it is dead as soon as the running strand rests: see refuse
	err       error // why the machine is dead
}

// New returns a machine that has seen no event. The first one it takes is RunStarted.
func New(def *Definition, info Info, enc Encoder) *Machine {
	return &Machine{
		def: def, info: info, enc: enc, onlySteps: true, inboxSeen: info.InboxSeen, children: info.Generation > 1,
		hint: Thresholds{Events: continueEvents, Bytes: continueBytes},
	}
}

// Info is the identity of the run.
func (m *Machine) Info() Info { return m.info }

// Encoder turns values into payloads.
func (m *Machine) Encoder() Encoder { return m.enc }

// SetLog tells where Log goes.
func (m *Machine) SetLog(log func(level int, msg string, args []any)) { m.log = log }

// Log writes a line about what is new to this machine: it is silent during Replay, in read-only code and while strands
// are unwound.
func (m *Machine) Log(level int, msg string, args []any) {
	if m.log != nil && !m.replaying && !m.readOnly && !m.unwinding {
		m.log(level, msg, args)
	}
}

// Root is the scope of the run: a cancel request cancels it.
func (m *Machine) Root() *Scope { return m.root }

// Now is workflow time: the time of the event being processed.
func (m *Machine) Now() time.Time { return m.now }

// LastSeq is the Seq of the last event applied.
func (m *Machine) LastSeq() journal.Seq { return m.seq }

// Waits tells whether the command has no outcome yet.
func (m *Machine) Waits(cmd journal.Cmd) bool { return m.open.find(cmd) != nil }

// InboxSeen is the number of the newest message consumed.
func (m *Machine) InboxSeen() journal.InboxSeq { return m.inboxSeen }

// Finished tells whether the code has returned: either Take has the terminal event or the history.
func (m *Machine) Finished() bool { return m.terminal != nil || m.sealed }

// Closed tells whether the machine takes no more events: Close was called, an error made it
// dead, or the history has its terminal event.
func (m *Machine) Closed() bool { return m.err != nil || m.sealed }

// Take returns what was asked for since the last Take. Nothing is kept for it during Replay but the
// terminal decision, and nothing at all by a dead machine.
func (m *Machine) Take() Decision {
	if m.err != nil {
		return Decision{}
	}
	d := Decision{CancelSteps: m.cancels, DropSteps: m.drops, Starts: m.starts, Messages: m.messages, Replies: m.replies}
	if m.terminal == nil {
		for _, c := range m.asked {
			if c.outcome == Unresolved {
				c.handed = true
				d.Steps = append(d.Steps, c.step())
			}
		}
	}
	if m.terminal != nil && !m.sealed && !m.taken {
		d.Terminal, d.Children, d.Continue, m.taken = m.terminal, m.children, m.next, true
	}
	d.OnlySteps = m.onlySteps && len(d.Steps) > 0 && d.Terminal == nil
	clear(m.asked)
	m.asked, m.cancels, m.drops, m.onlySteps = m.asked[:0], nil, nil, true
	m.starts, m.messages, m.replies = nil, nil, nil
	return d
}

// Effects is how many children, messages and replies the next Take has.
func (m *Machine) Effects() int { return len(m.starts) + len(m.messages) + len(m.replies) }

// Pending returns the steps without outcome in the order they were asked for: after a replay they are
// to be started again.
func (m *Machine) Pending() []Step {
	var steps []Step
	for _, c := range m.open.steps() {
		c.handed = true
		steps = append(steps, c.step())
	}
	return steps
}

// NextTimer returns the armed timer that is due first.
func (m *Machine) NextTimer() (Timer, bool) {
	if len(m.timers) == 0 {
		return Timer{}, false
	}
	c := m.timers[0]
	return Timer{Cmd: c.cmd, Name: c.name, Due: c.at}, true
}

// Waiting returns what the strands wait for, in spawn order, without duplicates, for people. It is short.
func (m *Machine) Waiting() []string {
	var lines []string
	seen := make(map[string]bool)
	for s := m.strands.live.First(); s != nil; s = s.node.Next() {
		for i := range s.waiters {
			line := s.waiters[i].String()
			if line == "" || seen[line] {
				continue
			}
			if len(lines) == waitingMax {
				return lines
			}
			seen[line] = true
			lines = append(lines, line)
		}
	}
	return lines
}

// Close ends all strands: their deferred calls run, awaits in them end as well, and what they ask for is
// dropped. It may be called again.
func (m *Machine) Close() {
	m.unwind(false)
	if m.err == nil {
		m.err = ErrClosed
	}
}
