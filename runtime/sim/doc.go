// Package sim looks for bugs by itself: it runs real nodes on a store in memory, inside a bubble
// whose clock jumps from one event to the next, and makes everything go wrong that may. It holds
// tests only.
//
// A seed gives a plan: nodes, runs with programs of all verbs that authors have (language_test.go
// sees to it), children and further generations among them, what clients send and ask and when, and
// faults (generate_test.go). A world carries the plan out (world_test.go, process_test.go): each
// process has its own connection, whose calls take a little time, fail, or hang as the plan says,
// and each call that reaches the database is written on a tape (tape_test.go). When the faults are
// over, the world waits until every run is closed. Then small checkers look at what is left, each
// for one property (check_*_test.go). A plan that breaks one is made smaller while it still breaks
// it (shrink_test.go), and printed.
//
//	go test ./runtime/sim                       500 seeds
//	go test ./runtime/sim -seed 17 -v           one seed, with its plan
//	go test ./runtime/sim -plan broken.json     a plan that a failure has printed
//	make sim                                    10,000 seeds
//
// # When the database goes back
//
// A fail-over to a standby that lags, or a restored copy, loses the last commits with all else that
// came since (goback_test.go). Clients know: a run that is gone is started again, and of what they
// had an answer to they send about half again and give the rest up. What was before must be there,
// and every run goes on from it and ends. Another fault belongs to it: requests that nobody waits
// for any more arrive late, some of them a second time.
//
// # When somebody goes back
//
// Operators retry, reset, fork, skip and edit, at times and beside commits (back_test.go). What
// such a rewind makes of the run is checked in the moment in which it is stored
// (check_rewind_test.go, check_fork_test.go); the checks at the end know branches and copies
// (lineage_test.go), and that what is mended then completes. Operators pause scopes and drain nodes
// too (scope_test.go), and run bulk jobs (job_test.go).
//
// # Limits
//
// Some plans have limits, which steps name (bound_test.go), or which whole runs hold
// (places_test.go), with and without a backlog. The bodies of steps are the witness: when one
// begins, it counts those that are executed beside it.
//
// # How exact a replay is
//
// A seed always gives the same plan, and everything in a plan has its own nanosecond: clients act,
// calls arrive and answers come at times that follow from the seed and the call's number. What
// remains to the Go scheduler is the order of goroutines within one such moment, the choice of a
// select with several ready cases, and the jitter of a node's repetitions while the store is away.
// TestReplay measures how often two runs of a seed end alike.
package sim
