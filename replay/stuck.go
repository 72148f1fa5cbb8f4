package replay

import (
	"runtime"
	"slices"

	"github.com/reprise-run/reprise/internal/callsite"
)

// framesMax bounds how deep below a wait the user's call may be for Stuck to name its line.
const framesMax = 24

// internal tells whether what the strand is about to wait for comes from other strands only.
func (s *strand) internal() bool {
	for i := range s.waiters {
		if !s.waiters[i].cond.Internal {
			return false
		}
	}
	return len(s.waiters) > 0
}

// mark keeps where the strand waits. Resolving the place to a line is left to Stuck: most waits end
// well.
func (s *strand) mark() {
	if s.where == nil {
		s.where = new([framesMax]uintptr)
	}
	if n := runtime.Callers(3, s.where[:]); n < framesMax { // without Callers, mark and park
		s.where[n] = 0
	}
}

func (s *strand) unmark() {
	if s.where != nil {
		s.where[0] = 0
	}
}

// site is the call with which the strand waits for other strands, the zero Site if it does not.
func (s *strand) site() callsite.Site {
	if s.where == nil {
		return callsite.Site{}
	}
	n := slices.Index(s.where[:], 0)
	if n < 0 {
		n = framesMax
	}
	return callsite.Of(s.where[:n])
}

// Stuck returns a line for each strand, in spawn order, if they all wait for each other, so that
// nothing but a cancel request can make the code go on: what it waits for, and the line of the
// call. It is empty if anything may come from outside: a command is open, the run answers updates,
// a strand waits for a signal, or for nothing but to be cancelled.
func (m *Machine) Stuck() []string {
	if m.env.err != nil || m.Finished() || !m.env.open.empty() || len(m.env.updates.handlers) > 0 {
		return nil
	}
	var lines []string
	for s := m.env.strands.live.First(); s != nil; s = s.node.Next() {
		line := ""
		for i := range s.waiters {
			switch c := s.waiters[i].cond; {
			case !c.Internal && s.waiters[i].String() != "":
				return nil
			case line == "":
				line = c.What
			case c.What != "":
				line += ", " + c.What
			}
		}
		if line == "" {
			return nil
		}
		line += callsite.Site{Where: s.site().Where}.At() // what it waits for tells the verb
		if len(lines) < waitingMax {
			lines = append(lines, line)
		}
	}
	return lines
}
