// Package workflow is what authors of workflows import.
//
// A workflow is an ordinary function of a [Context] and one input:
//
//	const Checkout workflow.Name[Order, Receipt] = "checkout"
//
//	func checkout(ctx workflow.Context, o Order) (Receipt, error) { … }
//
// Everything it learns from the world comes through the verbs of this package, and is an event in
// the run's history. After a crash, or just to free memory, the run is rebuilt by running the
// function again on the same events. So the function must do the same thing each time; see
// Determinism and changes below.
//
// A Context is not a context.Context, so most blocking calls do not compile in workflow code.
//
// # Steps
//
// Side effects and everything slow happen in a [Step]. Only its outcome is kept. A step runs at
// least once, is repeated as its [RetryPolicy] says, and has limits of time in its [StepOptions].
// [IdempotencyKey] is the same on every attempt, and a [StepTx] takes effect exactly once. Long
// steps call [Heartbeat]; the next attempt reads [LastHeartbeat]. An error that is [Permanent] is
// not tried again, [RetryAfter] says when. [StepAsync] returns a [Future] instead of waiting. A
// [Saga] undoes its steps if it fails.
//
// # Limits
//
// Steps that call something which bears only so much name its limits in StepOptions.Limits: each
// [StepLimit] is a name, a key such as a tenant's, and a cost. Operators set them, with
// runtime.SetLimit, as so many at once or as a rate, while everything runs. A step waits without a
// goroutine until all of them allow it. A body that learns only later what it has used says so with
// [Settle]. ChildOptions.Limits are what a child holds from its first turn until it closes, also
// while it waits; the limits of steps are for runs that shall hold nothing then.
//
// # Time
//
// [Context.Now] is the time of the event that the code reacts to; it moves at waits only. [Sleep]
// waits for seconds or years, a [Timer] can be selected over and stopped, and [WithTimeout] limits
// everything that is done in a scope.
//
// # Signals
//
// A [Signal] is a message with a name. [Signal.Receive] waits for the next one, also if it came
// before; each is received once, in order. One that does not decode is set aside. [Signal.Send]
// sends one to another run, exactly once.
//
// # Children
//
// [Call] runs another workflow and waits for its output, [CallAsync] returns a [Child] that can be
// signalled and cancelled meanwhile. The child starts in the same commit as everything else that
// the turn decides, on any node that serves it. [ChildOptions] give it a key, a queue, labels, and
// say what becomes of it when the parent closes. It is a run like any other: with a history of its
// own, which keeps the parent's short. A call fails with [ErrLimitFull] if as many wait for a limit
// of the child as may; one with BeyondBacklog waits all the same.
//
// # Generations
//
// A run that never ends returns [ContinueAsNew] from time to time and begins again with a new input
// and an empty history; [Context.ShouldContinue] tells when. Signals that were not received are
// there in the next generation. Steps and timers are not: wait for the ones that matter first.
//
// # Cancellation
//
// Each Context belongs to a scope. [WithCancel] and [WithTimeout] make scopes below it, [Shield]
// makes one that is not cancelled with it, for clean-up. A cancel request cancels the run's scope,
// and so does the end of the time that its start gave the run, with [ErrTimeout].
// In a cancelled scope waits return an error that is [ErrCancelled] (or [ErrTimeout]), timers end
// at once, and new steps, timers, children and sends are not issued. Steps that are running are
// asked to stop by their context, children by a cancel request, and waited for: their outcome tells
// whether they took effect. With [TryCancel] nobody waits, with [Abandon] nobody asks either. A
// step that is cancelled in the turn that asked for it is not executed then. What is ready at once
// is still returned, so a cancelled run can drain its signals.
//
// # Queries and updates
//
// A [Query] is a question about the run: its handler looks at the variables of the workflow's code.
// It is answered by replaying the history, also after the run has closed. What those want to see
// who do not have the code, such as progress, the workflow shows with [Publish]. An [Update] is a
// call into the run: it may be refused by its validator, before anything is stored, and its handler
// does what workflow code does, in a strand of its own. [HandlersFinished] waits until everybody
// who called has a reply; it is for the workflow's function, not for the handlers. Set handlers
// first thing in the workflow's function.
//
// # Coordination
//
// [Go] runs a function concurrently, in a strand. Strands run one at a time and only change at
// waits, so they share variables without locks. For what needs more:
//
//   - [WaitGroup] waits for strands, [Group] also for their first error; [Map] works on a list,
//     [Race] takes the fastest.
//   - [Channel] hands values over, [Promise] one value to many; [First], [FirstSuccess] and [All]
//     wait for several futures.
//   - [Mutex] and [Semaphore] keep strands apart over several waits.
//   - [Await] waits until a condition of the workflow's own variables holds.
//   - [Select] waits for the first of timers, signals, futures and channels.
//
// All are first come, first served, and end with the scope's error when that is cancelled. Strands
// that wait for each other and nothing else never go on: such a run is reported, with the lines at
// which its strands wait.
//
// # Graphs
//
// Work whose steps and their order are known beforehand can be declared as a graph, which is
// checked and drawn before it runs: see package flow, below this one, which is written with these
// verbs. Nodes execute flows after flows.Handle, and package runtime/flows starts them.
//
// # Beside workflows
//
// What starts runs is not in this package: runtime/schedule starts them at times of the calendar,
// and runtime/gather makes one run of many inputs, by size, time or quiet.
//
// # Determinism and changes
//
// Replay must ask for the same things as the first time. Time comes from [Context.Now], random
// numbers from [Random] and [UUID], and values that are at hand outside from [SideEffect] or
// [SideEffectIfChanged]. Do not use the clock, global random numbers, go statements, Go's channels
// and locks, or the order of a map's keys: they are not the same on every replay. [Log] is silent
// on replay.
//
// When code and history differ, the run is blocked, not failed, until code that fits is deployed.
// The error names the event, what the history has, what the code did, the line, and the verb that
// it called. New code for which open runs exist asks [Changed] before it takes a new branch; in a
// loop, with a [ChangeScope] for each iteration. The package replaytest checks code against
// recorded histories.
//
// # Interceptors
//
// Code that belongs around the function of every workflow, such as a notice when one fails, is an
// [Interceptor]. Nodes are given those with their options; [Intercept] is for tests.
//
// # Errors
//
// What fails for good returns a [StepError], a [ChildError] or a [SignalError]. They have the type
// and the text of the first error, also after a crash and on another node, but not its value,
// unless it is registered by [RegisterError] or [RegisterErrorType]: then errors.Is and errors.As
// find it, live and in every replay. The engine's own are found always:
//
//   - [ErrCancelled] and [ErrTimeout] match however many runs away the cause is.
//   - [ErrTerminated], [ErrKeyExists] and [ErrLimitFull] are about the one child that was called.
//   - [ErrRunNotFound] and [ErrRunClosed] are about the one run that the signal was for.
//
// The error that the workflow's function returns is the run's failure.
//
// # Panics
//
// Panics of workflow code block the run until better code is deployed: nothing of the turn is kept.
// So do those of conditions and of handlers of updates. Those of a query or a validator are the
// caller's error. All these name the function and the line, and the stack of one that blocks a run
// is in the node's log. Panics of a step fail its attempt; the stack is kept with the failure.
//
// Clean-up is for errors, not for panics: push it to a [Saga], or do it in a [Shield] scope before
// the function returns its error. Deferred calls run while code panics, as ever in Go, but may not
// wait then, also if they have recovered: what they ask for would be kept, and be in the way of
// code without the bug. Verbs that wait return [ErrPanicking], and the run is blocked. To go on
// after a panic, recover in a function of its own, and wait when that has returned.
//
// # Where verbs may be called
//
// From the workflow's function and what it calls, from functions given to [Go] and the like, and
// from handlers of updates. Anywhere else (a goroutine, a step's body, a zero Context) verbs return
// an error that matches [ErrOutside]. A goroutine cannot use the run even while workflow code waits
// for it, as with an errgroup.Group around steps: concurrent work is [Go], [StepAsync] or [Map].
// Where a goroutine did, the run is blocked with the verb and the line, and nothing of the turn is
// kept. A verb that has no error to return panics in a step's body; a goroutine that workflow code
// has started it ends, as runtime.Goexit does, because nobody would recover from a panic there and
// other runs would die with the process. A Context may be used in any strand of its run.
//
// Some functions may only look at the run: conditions of [Await], handlers of queries, validators
// of updates, and functions given to [SideEffect]. There all verbs that change something or wait
// are refused with [ErrReadOnly], in the same manner, and the error names the verb and the line.
package workflow
