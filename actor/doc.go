// Package actor keeps the live runs of a node: one protoactor actor for each run, children of a few
// shard actors. It connects three parts that know nothing of each other: the journal, which stores
// runs, the machine of package replay, which decides what a run does next, and the bodies of steps,
// which do the work.
//
// # The problem
//
// The machine is a function of events: it must not wait, read a clock or start a goroutine. The
// journal accepts a commit only from the run's owner, only after the last one, and answers when the
// disk has. Bodies take as long as they like, fail, hang, and finish when nobody expects it. All of
// this happens at once for thousands of runs, and the owner of a run may change at any moment. The
// actor of a run puts it into one order: messages arrive in its mailbox and are handled one at a
// time.
//
// # Life of a run actor
//
// A claimed task arrives as an activation. If the actor is warm (it still has the machine, and the
// task's turn number proves that nobody has committed since) it continues from where it stands.
// Else it loads the history and replays it. Then it repeats one cycle:
//
//  1. Inputs arrive: an attempt of a step has ended, a timer is due, the inbox has messages.
//  2. The actor takes a turn: it makes events of the inputs, steps the machine with each, and plans
//     what becomes of the task.
//  3. It submits one commit with all of it. Inputs that arrive meanwhile wait for the next turn.
//  4. When the commit is durable, and not before, the turn is carried out: steps start, contexts
//     are cancelled. If the commit is refused, nothing of the turn has happened: the actor throws
//     away its state, which is ahead of the journal.
//
// A run of which nothing is executed and no input waits is parked by the commit itself: the task
// becomes free, and visible when its earliest timer or retry is due or a message arrives. Whoever
// claims it next continues. The actor stays in memory for a while, so that a claim by the same node
// needs no load. A run that gives its place back because others need it, or because it waits for a
// slot in vain, is parked in the same way, with a time that has come: yield.go says when.
//
// A run that cannot continue (its code panicked, or code and history differ) is blocked: the task
// becomes free as well, with the problem and a back-off, and the next claim tries again. It is what
// makes a deployment of repaired code enough to repair its runs.
//
// # Phases
//
// What an actor is doing is one field, see phase.
//
//	         activated            load, answer
//	idle ───────────────▶ ready ◀─────────────▶ loading
//	 ▲                    │ │ ▲                    │
//	 │   closed, parked   │ │ │ turn, outcome      │
//	 ├────────────────────┤ ▼ │                    │
//	 │                    │ committing ─▶ failing  │ the engine
//	 │           it fails │                  │     │ fails
//	 │                    ▼     outcome      │     │
//	 └───────────────── failed ◀─────────────┴─────┘
//	         blocked      │ ▲
//	                      │ │ block, outcome
//	                      ▼ │
//	                    blocking
//
// And a run that is lost becomes idle from wherever it is. All changes:
//
//	idle       → ready       activated by a claim or a start
//	ready      → loading     the history or new messages are read
//	ready      → committing  a turn is submitted
//	ready      → failed      code panicked, history and code differ, or a load or a turn was refused
//	ready      → idle        closed, parked, handed back, or lost
//	loading    → ready       the answer of the load is here
//	loading    → failed      the engine failed meanwhile
//	loading    → idle        lost meanwhile
//	committing → ready       the turn's outcome is known
//	committing → failing     the engine failed meanwhile
//	committing → idle        lost, or a newer claim proves that the turn was written
//	failing    → failed      the turn's outcome is known
//	failing    → idle        lost, or a newer claim proves that the turn was written
//	failed     → blocking    the commit that blocks the run is submitted
//	failed     → idle        blocked; or the last turn had freed the run, or it is lost
//	blocking   → failed      the outcome is known
//	blocking   → idle        lost, or a newer claim proves that the run was blocked
//
// Any other change is a bug, which panics. Receive recovers from it and blocks the run, so that the
// bug is seen and its run is not lost.
//
// # One answer for each question
//
// Handlers do no I/O. A load, a commit and an attempt are asked for, executed elsewhere, and
// answered by a message. So a run waits for nothing but messages, and a run that waits for a
// message that never comes would be owned for ever by a node that never looks at it again. Each
// question therefore has exactly one answer: the store promises it for loads and commits, the
// executor for attempts, also if their bodies panic, end their goroutine or ignore their limits.
// Where nothing else is certain to come, the run sets its timer.
//
// Answers may be late, because an actor outlives its questions: the run is lost and claimed again,
// or the actor serves another run. Each answer carries the epoch of its question, and stale ones
// are ignored. A transaction that arrives with a stale answer is rolled back.
//
// # What protoactor is used for, and what not
//
// It gives mailboxes and the lifecycle of actors: Spawn, Send, Stop and Poison, and the order in
// which their messages arrive. The rest is ours:
//
//   - Goroutines. Mailboxes, bodies of steps and batches of the store share the workers of one
//     [github.com/reprise-run/reprise/internal/pool.Pool], which is protoactor's dispatcher here.
//   - Addresses. Only the shard of a run knows its actor, and run ids are hashed to shards. An
//     address proves nothing: an actor whose run is gone takes another run, under a higher epoch.
//   - Single activation. That a run has one actor is a convenience; that it has one owner is
//     enforced by the journal's fence (J3).
//   - Supervision. No panic reaches the library, which would lose messages and keep no stack.
//   - Time. ReceiveTimeout, futures (but for the end of a system) and its scheduler stay unused.
//
// The price is its dependencies: about half of the 42 modules of a small program are there for its
// sake, because it brings its own metrics, tracing and logging. They are linked and silent. What is
// used is small and stays behind this package, so replacing it means to write a mailbox and a
// parent that stops its children, and no other package would notice.
//
// # Where to look
//
// A file uses files of its own line and of later ones.
//
//	system.go, shard.go    the set of runs; who routes, keeps and evicts them
//	receive.go             what a message means to a run
//	activate.go, loaded.go, committed.go, stepdone.go
//	                       one answer each: a claim, a history, an outcome, the end of an attempt
//	advance.go             what a run does next
//	need.go                what a run waits for before it begins
//	load.go, taketurn.go, plan.go, submit.go, carryout.go
//	                       its parts: read, decide, dispose of the task, write, start steps
//	run.go, phase.go       the state, and how it is thrown away
//	yield.go               when a run gives its place to others
//	hold.go                what a pause means to it
//	exhaust.go             how a step pauses it that may not be tried again
//	turn.go, inputs.go, steps.go, step.go, retry.go, trouble.go, acquit.go
//	                       pieces of the state
//	host.go, room.go, retrypace.go
//	                       what runs share; how many more the node can work on; how often it retries
//	executor.go, slots.go, attempt.go, heartbeat.go, txhandoff.go
//	                       the execution of bodies, and who is next
package actor
