// Package memory keeps a journal in memory. It is the third driver and the reference: what package
// journal promises, it does in the plainest way there is, and the model of package journaltest
// compares the other drivers with it. Tests and simulations use it as their store, and so can a
// program that needs durable behaviour without durability.
//
// # Why it can be trusted
//
// Every call locks the whole database, reads the clock once, and unlocks when it is done. So a call
// happens at one moment, all calls have one order, and nothing that another driver needs locks,
// snapshots and repetitions for can go wrong here:
//
//   - J1, J7: a turn's events, its status and the end of its task are assignments under one lock.
//   - J2: a commit is checked completely before its first assignment, so nothing is ever undone.
//   - J3, J4: owner, fence and turn are compared under that lock.
//   - J5, J6: a message gets its number and makes its task visible in the same call.
//   - J9: the clock never goes back, and one call has one time.
//
// What it does not keep is J10: the database ends with the process.
//
// Beyond what a store must refuse it refuses what no owner in its right mind writes, such as a gap
// in a history or a message that is consumed twice. A bug of the engine is thereby found by the
// first test that meets it.
//
// # Processes and time
//
// A store stands for one process that is connected to the database, and [Store.Peer] connects
// another. Hints pass between them as between real processes, without what only shared memory can
// carry, and [Store.Close] is the death of one. The clock is a function of the test's choice, so a
// cluster runs inside a testing/synctest bubble or on a clock that leaps.
//
// # What it shows of itself
//
// [Store.Snapshot] and [Store.Run] copy everything that is kept, for checks of whole lives.
// [Store.Rush] and [Store.Expire] age rows, so that tests need not wait. [Store.Due] and
// [Store.Assign] let a model follow the choice of another store.
package memory
