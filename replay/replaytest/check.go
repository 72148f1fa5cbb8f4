package replaytest

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// eventsMax bounds the work of a long history: of its prefixes, only as many are tried as this many
// events allow, which is every one of a history of 300 events. Replaying so many takes about a
// fifth of a second, or a second if each event belongs to a child of its own.
const eventsMax = 90_000

// Limits of one check.
const (
	// contextMax is how many events before the one in question a Mismatch shows.
	contextMax = 5
	// stackMax is how many lines of a panic's stack it shows.
	stackMax = 24
)

// Mismatch is the error of [Check]: code does not fit a history. Its text has several lines: the
// event, what the history and the code have there, the line of the code, and the events before
// it.
type Mismatch struct {
	File  string      // of Golden
	Seq   journal.Seq // the first event at which they differ
	Want  string      // what the history has
	Got   string      // what the code has
	Where string      // the code: function (file.go:line); empty if no call made the difference
	// Replayed is how many events were replayed before the rest was taken as new, all of them in a
	// plain replay.
	Replayed int
	Err      error // of the machine, if that is not a plain difference: a panic, a payload that does not fit

	history *History
}

// Error tells all of it, for the log of a test.
func (m *Mismatch) Error() string {
	var b strings.Builder
	if m.File != "" {
		b.WriteString(m.File + ": ")
	}
	ev := &m.history.Events[m.Seq-1]
	fmt.Fprintf(&b, "workflow %s and its history differ at event %d of %d, %s\n", m.history.Run.Workflow, m.Seq, len(m.history.Events), title(ev))
	var panicked *replay.PanicError
	switch {
	case m.Err == nil:
		fmt.Fprintf(&b, "    history has  %s\n    code has     %s\n", m.Want, m.Got)
	case errors.As(m.Err, &panicked):
		fmt.Fprintf(&b, "    %v\n%s", m.Err, indent(panicked.Stack, stackMax))
	default:
		fmt.Fprintf(&b, "    %v\n", m.Err)
	}
	if m.Where != "" {
		fmt.Fprintf(&b, "    at           %s\n", m.Where)
	}
	if m.Replayed < len(m.history.Events) {
		fmt.Fprintf(&b, "    The same code did what the history has when all of it was replayed, but not after %d events.\n"+
			"    It depends on something else: a map's order, the clock, chance, a variable that outlives the run.\n", m.Replayed)
	}
	b.WriteString("    the history up to there:\n")
	first := max(0, int(m.Seq)-1-contextMax)
	for i := first; i < int(m.Seq); i++ {
		b.WriteString("    " + line(&m.history.Events[i]) + "\n")
	}
	return b.String()
}

// Unwrap returns the machine's error.
func (m *Mismatch) Unwrap() error { return m.Err }

// indent puts the first lines of a text below a title.
func indent(text string, lines int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if lines--; lines < 0 {
			break
		}
		b.WriteString("    " + strings.TrimRight(line, "\n") + "\n")
	}
	return b.String()
}

// Check replays a history with the registered code, which must do what the history says that it
// did. After that it replays every prefix and takes the rest as new events, as a node does that
// acquires the run at that point. The second part finds code that does not do the same each time:
// replay alone compares it with the history only, and a node that takes over runs it from the
// middle.
//
// Of a history with more than about 300 events it tries a part of the prefixes, one of each stretch
// of the history, always the same: all of them would take a time that grows with the square of its
// length. See [Registry.EveryPrefix]. The history of a run that was terminated before its first
// turn fits any code.
//
// Errors: a *Mismatch; a workflow or version that is not registered; events that are missing.
func Check(r *Registry, h *History) error {
	def, err := r.find(&h.Run)
	if err != nil {
		return err
	}
	for i := range h.Events {
		if h.Events[i].Seq != journal.Seq(i+1) {
			return fmt.Errorf("event %d stands in place %d of the history (J1): %w", h.Events[i].Seq, i+1, replay.ErrOrder)
		}
	}
	if len(h.Events) == 0 {
		return errors.New("the history has no events")
	}
	if h.Events[0].ByStore() && len(h.Events) == 1 {
		return nil // it was closed ahead of the first turn: no code ever ran, so any fits
	}
	c := &checker{def: def, enc: r.encoder(), history: h}
	n := len(h.Events)
	if err := c.run(n); err != nil {
		return err
	}
	for replayed := range prefixes(n, r.EveryPrefix) {
		if err := c.run(replayed); err != nil {
			return err
		}
	}
	return nil
}

// prefixes yields the lengths of the prefixes to try of a history of n events, the longest one
// first. Of a long history it yields one at random of each stretch, so that code which is wrong for
// each second prefix only, for instance, is found; the history's length is the seed, so that a test
// does the same each time.
func prefixes(n int, every bool) iter.Seq[int] {
	step := max(1, n*n/eventsMax)
	if every {
		step = 1
	}
	random := rand.New(rand.NewPCG(uint64(n), 0))
	return func(yield func(int) bool) {
		for end := n - 1; end >= 1; end -= step {
			if !yield(end - random.IntN(min(step, end))) {
				return
			}
		}
	}
}

// checker replays one history several times.
type checker struct {
	def     *replay.Definition
	enc     replay.Encoder
	history *History
}

// run replays some events and takes the rest as new ones. Values that the code read from outside
// are in the history only, so an event with such a value is replayed even where the rest is new;
// and where the code reads one that the history does not have, the comparison ends.
func (c *checker) run(replayed int) error {
	m := replay.New(c.def, c.history.Run, c.enc)
	defer m.Close()
	for i := range c.history.Events {
		ev := c.history.Events[i]
		if i < replayed || readsOutside(ev.Issued) {
			if err := m.Replay(&ev); err != nil {
				return c.mismatch(i, replayed, err)
			}
			continue
		}
		want := ev.Issued
		if err := m.Step(&ev); err != nil {
			return c.mismatch(i, replayed, err)
		}
		m.Take()
		if readsOutside(ev.Issued) {
			return nil // as new, the code may well go another way than it went before the change
		}
		if err := difference(want, ev.Issued, m); err != nil {
			return c.mismatch(i, replayed, err)
		}
	}
	if !c.history.Open {
		return nil
	}
	if err := m.CheckOpen(); err != nil {
		return c.mismatch(len(c.history.Events)-1, replayed, err)
	}
	return nil
}

// readsOutside tells whether the code read something in addition to its events: a recorded value,
// or which branch of a change it is on. A new turn would read something else.
func readsOutside(issued []journal.Issued) bool {
	return slices.ContainsFunc(issued, func(i journal.Issued) bool {
		return i.Kind == journal.CommandRecord || i.Kind == journal.CommandChange
	})
}

// mismatch adds the history to an error of the machine at an event.
func (c *checker) mismatch(at, replayed int, err error) error {
	m := &Mismatch{Seq: c.history.Events[at].Seq, Replayed: replayed, history: c.history}
	if d, ok := errors.AsType[*replay.DivergenceError](err); ok {
		m.Want, m.Got, m.Where = d.Want, d.Got, d.Where
	} else {
		m.Err = err
	}
	return m
}

// difference compares the commands of a new turn with those of the history. A machine does the
// same in replay, but in a new turn it has nothing to compare with.
func difference(want, got []journal.Issued, m *replay.Machine) error {
	for i := range max(len(want), len(got)) {
		w, g := "nothing more", "nothing more"
		if i < len(want) {
			w = want[i].String()
		}
		if i < len(got) {
			g = got[i].String()
		} else if waiting := m.Waiting(); len(waiting) > 0 {
			g = "waiting for " + strings.Join(waiting, ", ")
		}
		if i < len(want) && i < len(got) {
			a, b := want[i], got[i]
			if a.Kind == b.Kind && a.Name == b.Name && a.Target == b.Target && a.Detail == b.Detail {
				continue
			}
		}
		return &replay.DivergenceError{Want: w, Got: g}
	}
	return nil
}
