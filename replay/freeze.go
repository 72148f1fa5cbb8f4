package replay

import "github.com/reprise-run/reprise/journal"

// SetFreezes tells a machine in which times the timers of its run stood still, before it has seen
// an event. Timers that the code arms, and the run's time, come later by that, see
// [journal.Freezes.Due]. Nothing of it is in the history: only that a timer has fired is, and the
// due time that a command names is the one that the code asked for. So a history replays in the
// same way with any freezes.
//
// A run that gets another freeze needs another machine. It happens when an operator resumes a run,
// and remembering of each timer when it was armed would cost every run memory.
func SetFreezes(m *Machine, f journal.Freezes) {
	m.env.freezes = f
	if !m.deadline.IsZero() {
		m.timeUp, _ = f.Due(m.env.info.StartAt, m.deadline)
	}
}

// Freezes are those of [SetFreezes].
func Freezes(m *Machine) journal.Freezes { return m.env.freezes }
