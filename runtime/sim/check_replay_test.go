package sim

import (
	"context"

	"github.com/reprise-run/reprise/replay/replaytest"
	"github.com/reprise-run/reprise/replay/workflow"
)

// checkReplay: the program does again what its history says, from every prefix of it.
func checkReplay(f *finder) {
	var code replaytest.Registry
	code.Add(workflow.Define(program, 1, interpret(nowhere{})))
	for _, r := range f.runs {
		if !r.began() {
			continue
		}
		if err := replaytest.Check(&code, replaytest.Of(r.Run, r.Events)); err != nil {
			f.breaks("%s: %v", r, err)
		}
	}
}

// nowhere is for histories: nothing is executed.
type nowhere struct{}

// execute implements bodies.
func (nowhere) execute(context.Context, *instr, bool, func(func())) (string, error) {
	panic("replay executes nothing")
}
