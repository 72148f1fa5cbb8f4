package replay

import (
	"fmt"
	"maps"
	"slices"

	"github.com/reprise-run/reprise/internal/callsite"
)

// Waiting returns what the strands wait for, in spawn order, without duplicates, for people. It has
// at most 32 lines.
func (m *Machine) Waiting() []string {
	var lines []string
	seen := make(map[string]bool)
	for s := m.env.strands.live.First(); s != nil; s = s.node.Next() {
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

// Unreceived returns a line for each name of signals that are there and that code does not receive
// now, sorted, for people. It has at most 32 lines. Code may receive them later; a name that is
// misspelt stays.
func Unreceived(m *Machine) []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(m.env.signals)) {
		if n := m.env.signals[name].Len(); n > 0 && len(lines) < waitingMax {
			lines = append(lines, fmt.Sprintf("%d of signal %s not received", n, name))
		}
	}
	return lines
}

// Stuck returns a line for each strand, in spawn order, if they all wait for each other, so that
// nothing but a cancel request can make the code go on: what it waits for, and the line of the
// call. It has at most 32 lines. It is empty if anything may come from outside: a command is
// open, the run answers updates, a strand waits for a signal, or for nothing but to be cancelled.
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

// String names what the strand waits for. It is empty for a waiter in no Cond and for a Cond
// without a name, such as a scope's.
func (w *waiter) String() string {
	switch {
	case w.cond == nil:
		return ""
	case w.cond.cmd != nil:
		return w.cond.cmd.String()
	}
	return w.cond.What
}
