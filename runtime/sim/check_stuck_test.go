package sim

// checkStuck: with the faults over and every signal sent, all runs are closed, and whoever waits
// for a result has it.
func checkStuck(f *finder) {
	if len(f.runs) != len(f.world.runs) {
		f.breaks("there are %d runs of %d", len(f.runs), len(f.world.runs)) // with all children
	}
	for _, r := range f.runs {
		switch {
		case !r.Run.Status.Closed():
			f.breaks("%s is open: %+v", r, *r.Run.Task)
		case !r.heard && r.of == 0:
			f.breaks("%s is %s, but who waits for its result does not hear of it", r, r.Run.Status)
		}
	}
}
