//go:build race

package sim

// seedsDefault is less under the race detector, which makes everything several times slower.
const seedsDefault = 100
