package actor

import "fmt"

// phase says what the actor of a run is doing. It decides what a message means to the run, so it is
// one field with one table of transitions instead of a flag for each question. What is orthogonal
// to it stands above run.
type phase uint8

const (
	// idle: this actor does not own its run, or has none. It may keep a machine, so that the next
	// activation needs no load, or remember how often the run was blocked.
	idle phase = iota
	// ready: the run is owned and nothing is in flight. Between two messages a ready run has a
	// machine and waits for a message.
	ready
	// loading: a load of the history, or of new messages, is in flight.
	loading
	// committing: a turn is in flight. Inputs that arrive meanwhile wait for the next turn.
	committing
	// failing: a turn is in flight, and the run will be blocked: the engine failed in the meantime.
	// The turn's outcome comes first, because it decides what is blocked.
	failing
	// failed: the run is to be blocked and nothing is in flight. The next advance submits the
	// commit that does it.
	failed
	// blocking: the commit that blocks the run is in flight.
	blocking
	phaseCount
)

var phaseNames = [phaseCount]string{"idle", "ready", "loading", "committing", "failing", "failed", "blocking"}

func (p phase) String() string { return phaseNames[p] }

// owned tells whether the node owns the run, as far as this actor knows. The journal's fence
// decides.
func (p phase) owned() bool { return p != idle }

// inFlight tells whether the outcome of a commit is awaited.
func (p phase) inFlight() bool { return p == committing || p == failing || p == blocking }

// transition is an allowed change of phase.
type transition struct {
	from, to phase
	why      string
}

// transitions are all changes of phase that are allowed. The package documentation prints them; a
// test compares the two and drives a run through each of them.
var transitions = []transition{
	{idle, ready, "activated by a claim or a start"},
	{ready, loading, "the history or new messages are read"},
	{ready, committing, "a turn is submitted"},
	{ready, failed, "code panicked, history and code differ, or a load or a turn was refused"},
	{ready, idle, "closed, parked, handed back, or lost"},
	{loading, ready, "the answer of the load is here"},
	{loading, failed, "the engine failed meanwhile"},
	{loading, idle, "lost meanwhile"},
	{committing, ready, "the turn's outcome is known"},
	{committing, failing, "the engine failed meanwhile"},
	{committing, idle, "lost, or a newer claim proves that the turn was written"},
	{failing, failed, "the turn's outcome is known"},
	{failing, idle, "lost, or a newer claim proves that the turn was written"},
	{failed, blocking, "the commit that blocks the run is submitted"},
	{failed, idle, "blocked; or the last turn had freed the run, or it is lost"},
	{blocking, failed, "the outcome is known"},
	{blocking, idle, "lost, or a newer claim proves that the run was blocked"},
}

// allowed is the same as a matrix: it is asked at every change.
var allowed = matrix(transitions)

func matrix(list []transition) (m [phaseCount][phaseCount]bool) {
	for _, t := range list {
		m[t.from][t.to] = true
	}
	return m
}

// change returns the new phase. A change that is not in the table is a bug of this package: Receive
// recovers from the panic, and the run is blocked with its text.
func (p phase) change(to phase) phase {
	if !allowed[p][to] {
		panic(fmt.Sprintf("a run must not change from phase %s to phase %s", p, to))
	}
	return to
}
