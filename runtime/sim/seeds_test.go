//go:build !race

package sim

const (
	// seedsDefault takes some ten seconds.
	seedsDefault = 500
	// resetsDefault takes two.
	resetsDefault = 20
	// Of 40 replays about half do the very same twice. A mistake in the simulator's own
	// determinism, such as a loop over a map, leaves none or nearly none.
	replays, replaysMin = 40, 6
)
