package sim

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/replaytest"
	"github.com/reprise-run/reprise/replay/workflow"
)

// checkReplay: the program does again what its history says, from every prefix of it.
func checkReplay(f *finder) {
	var code replaytest.Registry
	code.Add(workflow.Define(program, 1, interpret(nowhere{f.plan.Slip})))
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
		if i > 0 {
			h.Run.InboxSeen = s.continues[i-1].Seen
		}
		if n := len(events); n > 0 && events[n-1].Kind == journal.RunContinued { // a broken run may have none
			h.Run.Input = events[n-1].Payload
		}
		list = append(list, h)
	}
	return list
}
