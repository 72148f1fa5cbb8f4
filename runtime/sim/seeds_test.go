//go:build !race

package sim

// seedsDefault takes some ten seconds.
const seedsDefault = 500
