package sim

// checkBlocked: programs do the same whenever they are replayed, so no run is ever blocked
// but one that its node cannot read.
func checkBlocked(f *finder) {
	for _, what := range f.tape.blocks {
		f.breaks("%s", what)
	}
}
