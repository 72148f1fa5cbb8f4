//go:build race

package sim

const (
	// seedsDefault is less under the race detector, which makes everything several times slower.
	seedsDefault  = 100
	resetsDefault = 3
	// replaysMin is nothing, because the race detector's scheduler mixes goroutines on purpose.
	replays, replaysMin = 10, 0
)
