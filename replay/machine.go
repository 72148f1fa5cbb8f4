package replay

import (
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Definition is a workflow that a machine can run.
type Definition struct {
	Name    string
	Version int32
	// Run decodes the input, runs the user's function and encodes its output.
	Run func(m *Machine, input journal.Payload) (journal.Payload, error)
}

// Machine replays one run.
type Machine struct {
	def  *Definition
	info Info
	enc  Encoder
	now  time.Time
	err  error
}

// New returns a machine that has seen no event.
func New(def *Definition, info Info, enc Encoder) *Machine {
	return &Machine{def: def, info: info, enc: enc}
}

// Replay applies a journaled event and compares.
func (m *Machine) Replay(ev *journal.Event) error { return m.err }

// Step applies a new event and fills ev.Issued.
func (m *Machine) Step(ev *journal.Event) error { return m.err }

// Take returns what was asked for since the last Take.
func (m *Machine) Take() Decision { return Decision{} }

// Pending returns the steps without outcome, in Cmd order.
func (m *Machine) Pending() []Step { return nil }

// NextTimer returns the earliest armed timer.
func (m *Machine) NextTimer() (Timer, bool) { return Timer{}, false }

// Waiting returns what the strands wait for, for people.
func (m *Machine) Waiting() []string { return nil }

// Now is workflow time.
func (m *Machine) Now() time.Time { return m.now }

// LastSeq is the Seq of the last event applied.
func (m *Machine) LastSeq() journal.Seq { return 0 }

// InboxSeen is the number of the newest message consumed.
func (m *Machine) InboxSeen() journal.InboxSeq { return 0 }

// Finished tells whether the code has returned: Take holds the terminal event, or history has it.
func (m *Machine) Finished() bool { return false }

// Closed tells whether the machine takes no more events.
func (m *Machine) Closed() bool { return false }

// Close unwinds all strands. It may be called again.
func (m *Machine) Close() {}

// FailureOf turns an error into the form that histories keep.
func FailureOf(err error) *journal.Failure { return nil }
