// Package replay is the machine that turns events into decisions: it runs workflow code as a
// function of its history. Authors of workflows import the package below it, replay/workflow.
//
// # The problem
//
// Workflow code is an ordinary function that may wait for a year. It cannot be kept in memory for
// so long, and memory does not survive a crash, so what is stored is not the function's state but
// what happened to it: its events. To go on, the function is run again from its beginning, and is
// given the same events. It must then ask for the same things in the same order, or what is stored
// and what runs are two different runs.
//
// So determinism means here: the code's commands are a function of its events. The machine does its
// part by giving the code nothing else. Time is the time of an event, random numbers follow from
// the run's id, strands run one at a time in an order that follows from the code, and values from
// outside are kept in the history when they are first seen. The author does the other part, and
// where the code does not, replay notices it at the first command that differs: that is a
// [DivergenceError].
//
// # A turn
//
// The driver, a run's actor, gives the machine one event at a time: [Machine.Replay] takes those of
// the history, [Machine.Step] new ones. After each event the machine resumes strands until all of
// them are blocked, so what it shows is always a state at rest. [Machine.Take] then returns what
// was asked for.
//
//	driver                  Machine                     Env                  workflow code
//	  │  Offer(message, now)   │                          │                        │
//	  │───────────────────────▶│ event, or refusal        │                        │
//	  │  Step(event)           │                          │                        │
//	  │───────────────────────▶│ check order, set time    │                        │
//	  │                        │ resolve what it answers ─┼─▶ wake strands         │
//	  │                        │                          │  resume ──────────────▶│ goes on
//	  │                        │                          │◀── Step, Timer, Send ──│ asks
//	  │                        │                          │ issue: list or compare │
//	  │                        │                          │◀── Await ──────────────│ parks
//	  │                        │          … until no strand can go on              │
//	  │◀───────────────────────│ event.Issued             │                        │
//	  │  Take()                │                          │                        │
//	  │───────────────────────▶│ Decision                 │                        │
//	  │  commit events and decision together, then let the world see it            │
//
// Machine is what the driver calls, between turns. [Env] is what the code calls, within one. No
// method of either may be called by another goroutine at the same time.
//
// # States of a machine
//
//	     RunStarted            the function returns         the terminal event
//	new ───────────▶ at rest ─────────────────────▶ finished ──────────────▶ sealed
//	 │                 │  ▲ any event                  │
//	 │                 └──┘                            │
//	 └───────┬─────────┴───────────────────────────────┘
//	         ▼
//	       dead:  divergence, panic, runaway, order, Close
//
// RunTerminated, which an operator decides, seals a machine at rest as well. A dead machine has no
// strands and returns its error from every call that takes an event. No such error fails the run:
// the driver blocks it, and other code may go on with it. Nothing of the turn in which a machine
// died is kept.
//
// # The decision
//
//   - Steps to execute. Each ends with one StepCompleted or StepFailed event.
//   - CancelSteps, whose contexts are to be cancelled. They still end with an outcome event,
//     because the code waits for it: a saga must know whether a step took effect. A step can be
//     asked for and asked to stop in one turn; it is in both lists then, and its executor may
//     answer with a failure of type FailureCancelled without running it.
//   - DropSteps, for whose outcome nobody waits any more (see [CancelMode]): it becomes no event. A
//     step that is asked for and dropped in one turn is in no list of steps to execute.
//   - Starts, Messages and Replies: children to start, signals and cancel requests to other runs,
//     answers to updates. They are to be committed together with the events. Outcomes of children,
//     and answers to messages with a Cmd, come as events; [Machine.Step] turns one that no open
//     command waits for into MessageDropped.
//   - Terminal, the event that closes the run, or its generation: Continue then says how the next
//     one begins. Its Carried are the messages that were events here but that the code has not
//     finished with: signals that it has not received, and the cancel request. They come again as
//     events of the next generation. Updates without a reply get one in this decision: aborted. No
//     steps come with a Terminal, CancelSteps are the ones that still run, their outcomes are of no
//     use any more, and Step takes no further event ([ErrFinished]): what arrived meanwhile stays
//     in the inbox.
//
// OnlySteps tells that the decision holds steps and nothing else was issued: no timer, no cancel,
// no end.
//
// Armed timers are not part of a decision: [Machine.NextTimer] has the earliest. After a replay
// [Machine.Pending] has the steps to start again, those that were asked to stop among them.
//
// # What is compared
//
// Every event carries Issued, the commands the code issued in reaction to it: steps, timers,
// children, messages to other runs, cancels of those, and three kinds that need no answer: records,
// changes and replies. Step records the list, Replay compares each command while it is being
// issued, so that a DivergenceError knows the user's call. Kind, name, target and detail are
// compared: the detail is a child's key, a message's receiver, a reply's number. Inputs and options
// are not, so they may be changed, and a timer's due time follows from workflow time, which is the
// time of the event. Each entry of the lists takes the next command number, also a cancel. The ids
// of children follow from it.
//
// The detail of a record is its value, which replay takes from there; "=" stands for that of the
// record of this name before. A change says that the code took a new branch. Replay answers true
// where the history has it next, perhaps after other changes, and false elsewhere; it passes over
// changes that the code does not ask about, so that they can be taken out. A change that was passed
// over is remembered for the run, in case the code asks later.
//
// An event that answers a command must find it open, with the same kind and name; a terminal event
// must be what the code decided, but for what the store has written, see journal.Event.ByStore.
//
// # Code that only reads
//
// [Env.ReadOnly] runs code that may look at a run but not change it: conditions, functions of
// records, handlers of queries, validators of updates. [Machine.Query] and [Machine.CheckUpdate]
// are called while the machine is at rest. Whether an update is accepted is asked once, before its
// event; replay does not ask again, but the handler must be there.
//
// A refusal that goes into a future, which the code may drop, is the outcome of the code: see
// [Unseen].
//
// # Running ahead
//
// Whoever does not own a run can show its machine what the owner will do next: [ForeseeFirst] takes
// the first turn, [Foresee] a message, [Successor] goes over to the next generation. What follows
// from what is stored comes true. What only the owner decides (values from outside, changes, the
// time of an event) stops such a machine with an [UndecidedError].
//
// # Strands
//
// Code runs on coroutines, strictly one at a time. Of those that can go on, the one that was
// spawned first runs next. A strand waits at a [Cond], always also at its scope's; whoever
// broadcasts it makes the strands there look again, and what is ready wins over a cancelled scope.
// A signal wakes the strand that has waited longest, and a strand that takes another way passes the
// wake-up on.
//
// What strands hand to each other (channels, locks, promises) comes with the wake-up, so there is
// nothing to pass on. Conditions of [Scope.Until] are tested each time all strands are blocked, in
// the order in which they began to be waited for, until one holds. [Machine.Stuck] tells when
// strands wait for each other and for nothing else.
//
// Panics and runtime.Goexit of workflow code become a [PanicError]. A deferred call that runs
// meanwhile may not wait ([ErrPanicking]): its commands would be committed ahead of the error, and
// stay in the way of code that does not panic. In Replay it may, because what a history has is
// done. Nobody can tell whether such a call has recovered, so that makes no difference.
//
// [Machine.Close] unwinds all strands in spawn order: deferred calls run, awaits in them end as
// well, and what they issue is dropped. Panics while unwinding are dropped too: there is no event
// that they could be a reaction to. Code that recovers from being unwound is unwound again at its
// next await, and for good after a hundred times.
//
// The machine starts no goroutine that outlives Close, and reads no clock, no file and no random
// source. What it cannot stop is code that neither awaits nor returns; the driver watches for that.
//
// # Where things are
//
//	machine, event, offer, decision, finish    the driver's side: what a turn is
//	foresee, foresight                         a machine that runs ahead of the history
//	env, query, update, record, change, …      the language's side: verbs and their state
//	scope, command, child                      what can be cancelled and awaited
//	ledger, openlist, timers                   what was issued, and what waits for an answer
//	sched, strand, cond, predicate             who runs, and who waits for what
//	failure, errors                            errors as histories keep them
package replay
