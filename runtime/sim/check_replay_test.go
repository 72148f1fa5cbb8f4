package sim

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/replaytest"
)

// checkReplay: the program does again what its history says, from every prefix of it.
func checkReplay(f *finder) {
	var code replaytest.Registry
	code.Add(definition(f.plan.Slip))
	for _, r := range f.runs {
		if !r.began() {
			continue
		}
		for _, h := range r.histories() {
			if err := replaytest.Check(&code, h); err != nil {
				f.breaks("%s, generation %d: %v", r, h.Run.Generation, err)
			}
		}
	}
}

// nowhere is for histories: nothing is executed.
type nowhere struct{ slip verb }

// execute implements bodies.
func (nowhere) execute(context.Context, *instr, bool, func(func())) (string, error) {
	panic("replay executes nothing")
}

// value implements bodies.
func (nowhere) value(bool) string { return "another" }

// slips implements bodies.
func (n nowhere) slips(do verb) bool { return n.slip == do }

// histories returns the run's generations, each with what it began with.
func (s *settled) histories() (list []*replaytest.History) {
	for i, events := range s.generations() {
		h := replaytest.Of(s.Run, events)
		h.Run.Generation, h.Run.Parent = journal.Generation(i+1), s.Run.Parent
		h.Run.Input, h.Run.InboxSeen = s.input, 0
		if i > 0 && i <= len(s.continues) { // a broken run may have none
			h.Run.Input, h.Run.InboxSeen = s.continues[i-1].Input, s.continues[i-1].Seen
		}
		list = append(list, h)
	}
	return list
}
