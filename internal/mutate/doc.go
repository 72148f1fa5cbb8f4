// Command mutate asks whether the tests would notice a fault: it changes one place of the code,
// runs the tests that claim to guard that place, and prints the changes that no test has seen.
//
//	go run ./internal/mutate -seed 7 -n 200
//
// A mutant is one replacement of text in one file. In Go a condition is turned round, a comparison
// or a sign is changed, && and || are exchanged, a statement, a continue or a break is left out, a
// function is left at once with zero values, an error is not returned. In a constant that holds a
// statement of SQL a condition always holds, a branch is never taken, a comparison, a null test, a
// literal, a lock or an order is changed. The lists are in operators.go and sql.go.
//
// A sample is drawn from all mutants of all packages, so that a package counts by its size. Each
// mutant is tried in a copy of the tree. The tests of its package run first, then those of the
// engine that use the package, and the first failure ends the trial: a mutant that is noticed costs
// little, only a survivor costs all of the tests.
//
// A mutant that does not compile, or a statement that Postgres cannot prepare, is no fault that
// anybody could commit: it is not counted. Tests that do not end in their time have noticed
// something too, but cannot say what: these mutants are counted apart.
//
// Answers are kept in a file, one line each. The same sample goes on where it was stopped, and
// several processes may work on parts of it. Nothing is kept in the repository.
//
// A survivor is no verdict. Either a test is missing, or the change means the same: a buffer is
// kept a little longer, a hint is lost that a poll makes good. Only the first deserves a test.
//
// It is a program of this repository for two reasons: SQL is half of what a store is, and an actor
// is guarded by clusters of nodes rather than by the tests of its own package.
package main
