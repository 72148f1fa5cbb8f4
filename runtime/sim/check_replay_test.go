package sim

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/replaytest"
)

// checkReplay: the program does again what its history says, from every prefix of it, in branches and
// behind copied events too (J13).
func checkReplay(f *finder) {
	var code replaytest.Registry
	code.Add(definition(f.plan.Slip))
	for _, r := range f.runs {
		if !r.began() {
			continue
		}
		for _, h := range r.histories() {
			if len(h.Events) == 0 || h.Events[0].Kind == journal.RunTerminated { // nothing of it was durable when somebody went back
				continue
			}
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
		if i < s.first() {
			continue
		}
		b := &s.begins[i]
		h := replaytest.Of(s.Run, events)
		h.Run.Generation, h.Run.Parent = journal.Generation(i+1), s.Run.Parent
		h.Run.Input, h.Run.InboxSeen, h.Run.Rewound = b.input, 0, nil
		if b.from != nil {
			h.Run.InboxSeen = b.from.Seen
		}
		if b.back != nil {
			h.Run.Rewound = b.back.a.Rewind.Next
		}
		h.Open = h.Open && i == len(s.begins)-1
		list = append(list, h)
	}
	return list
}
