package sim

import (
	"fmt"
	"slices"

	"github.com/reprise-run/reprise/journal"
)

// checkFamily: a child exists exactly if a turn in its parent's history asks for it, unless another
// run has its key; and a command has one answer at most. Branches have asked like all others, and
// copied events have asked where they are no copies: neither a later generation nor a fork has
// children for them.
func checkFamily(f *finder) {
	children := map[journal.Parent]*settled{}
	for _, r := range f.runs {
		if p := r.Run.Parent; p != nil {
			at := *p
			at.Policy = 0
			if other := children[at]; other != nil {
				f.breaks("%s and %s answer the same command", r, other)
			}
			children[at] = r
		}
	}
	for _, r := range f.runs {
		refused := r.answers(f)
		for g, events := range r.generations() {
			cmd := r.begins[g].cmds
			closed := f.closedBy(r, g)
			for i := r.begins[g].kept; i < len(events); i++ {
				for _, c := range events[i].Issued {
					if cmd++; c.Kind != journal.CommandChild {
						continue
					}
					at := journal.Parent{Run: r.id, Generation: journal.Generation(g + 1), Cmd: cmd}
					deaf := c.Detail != "" && closed // a refusal finds no inbox behind the last commit
					if child := children[at]; child != nil && refused[at] || child == nil && !refused[at] && !deaf {
						f.breaks("%s: child of command %d of generation %d: there is one %t, it was refused %t", r, cmd, g+1, child != nil, refused[at])
					}
					delete(children, at)
				}
			}
		}
	}
	for at, child := range children {
		f.breaks("%s was started by command %d of generation %d, which its parent's history does not have", child, at.Cmd, at.Generation)
	}
}

// closedBy tells whether a generation has closed the run.
func (f *finder) closedBy(r *settled, g int) bool {
	return slices.ContainsFunc(r.ends(), func(e end) bool { return int(e.generation) == g+1 })
}

// answers checks that nothing is answered twice, but for children that may have gone on before
// somebody went back, and lists the children that could not start.
func (s *settled) answers(f *finder) (refused map[journal.Parent]bool) {
	refused = map[journal.Parent]bool{}
	known, backs := map[string]int{}, 0
	for i := range s.ancestors() {
		for _, b := range s.ancestors()[i].begins {
			if b.back != nil {
				backs++
			}
		}
	}
	for i := range s.Messages {
		m := &s.Messages[i]
		if !m.Kind.Answers() {
			continue
		}
		at := fmt.Sprintf("command %d of generation %d", m.Cmd, m.Generation)
		if known[at]++; known[at] > 1+backs {
			f.breaks("%s: %s is answered %d times, and somebody went back %d times", s, at, known[at], backs)
		}
		if m.Kind != journal.MessageChildFailed || m.Number <= s.copied() {
			continue
		}
		if failure, err := journal.DecodeFailure(m.Payload); err == nil && failure.Type == journal.FailureKeyExists {
			refused[journal.Parent{Run: s.id, Generation: m.Generation, Cmd: m.Cmd}] = true
		}
	}
	return refused
}
