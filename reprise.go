// Package reprise is the documentation of the module; it holds no code. Reprise runs durable
// workflows: ordinary Go functions whose every step result, timer and message is an event in a
// journal, so that another process can go on after a crash where the first one stood.
//
// # Where to begin
//
//   - Write a workflow: [github.com/reprise-run/reprise/replay/workflow]. Its documentation is a
//     tour with an example of each verb.
//   - Declare one as a graph that can be drawn:
//     [github.com/reprise-run/reprise/replay/workflow/flow].
//   - Execute workflows, start runs and talk to them: [github.com/reprise-run/reprise/runtime].
//     A Node executes, a Client starts, signals, updates, queries and lists.
//   - Start runs at times of the calendar:
//     [github.com/reprise-run/reprise/runtime/schedule].
//   - Start one run for many inputs, by size, time or quiet:
//     [github.com/reprise-run/reprise/runtime/gather].
//   - Open a database: [github.com/reprise-run/reprise/journal/postgres] for many processes,
//     [github.com/reprise-run/reprise/journal/sqlite] for one. [journal.New] makes a journal of it,
//     which nodes and clients are given.
//   - Read what is stored (runs, events, failures, errors, limits):
//     [github.com/reprise-run/reprise/journal]. Its documentation states the guarantees J1 to J14.
//   - Test a workflow: [github.com/reprise-run/reprise/runtime/runtimetest] executes it in virtual
//     time and crashes it at every turn; [github.com/reprise-run/reprise/replay/replaytest] replays
//     recorded histories against changed code.
//
// The command
//
//	go run github.com/reprise-run/reprise/examples/order
//
// shows a saga with its audit; the folders beside it hold smaller programs and guides for those who
// come from Temporal or DBOS. examples/tutorial is a whole service with its tests, as a module of
// its own; docs/tutorial.md explains it.
//
// The command
//
//	go install github.com/reprise-run/reprise/cmd/reprise@latest
//
// looks into a journal and acts on its runs; see docs/operations.md.
//
// # What is promised
//
// From the first release on, and within one major version, these packages keep their exported names
// and what they mean: replay/workflow, runtime, journal, journal/postgres, journal/sqlite,
// runtime/runtimetest and replay/replaytest. Each release replays the histories of all earlier
// ones, and its migrations let two successive releases work on one database at the same time.
//
// For those who write a back end there are journal/driver, the interface to implement, and
// journal/journaltest, the tests to pass; journal/memory is the smallest implementation.
// journal/postgres/pgserver runs a private server for tests and examples. These four may change in
// a minor release, and the changelog says how.
//
// The packages actor, replay and migrations, and everything called internal, are parts of the
// engine. They are importable so that the parts can be kept apart, and promise nothing.
//
// [journal.New]: https://pkg.go.dev/github.com/reprise-run/reprise/journal#New
package reprise
