// Package journaltest checks implementations of driver.Store against the guarantees of package
// journal. A back end's test is one call:
//
//	func TestStore(t *testing.T) {
//		journaltest.All(t, func(t *testing.T) driver.Store { return open(t) })
//	}
//
// It has three parts, which can also be called alone:
//
//   - [Run], the suite: one test for each thing that is promised, named by its guarantee.
//   - [Faults], a scenario that meets a fault at every call.
//   - package model: random programs whose outcomes are compared with those of the reference,
//     package journal/memory. REPRISE_MODEL_SEQUENCES says how many, REPRISE_MODEL_SEED repeats one
//     of them.
//
// [Bench] has the micro-benchmarks that all back ends share. Package faulty wraps any store and
// lets its calls fail. Package state reads all that a store shows and makes it comparable.
package journaltest
