//go:build !race

package sim

const (
	// seedsDefault takes some ten seconds.
	seedsDefault = 500
	// replaysMin of so many replays must do the very same twice: about a third of what do.
	replays, replaysMin = 100, 25
)
