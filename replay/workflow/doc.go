// Package workflow is what authors of workflows import.
//
// A workflow is an ordinary function of a [Context] and one input:
//
//	const Checkout workflow.Name[Order, Receipt] = "checkout"
//
//	func checkout(ctx workflow.Context, o Order) (Receipt, error) { … }
//
// Everything it learns from the world comes through the verbs of this package, and is an event in the
// run's history. After a crash, or just to free memory, the run is rebuilt by running the function again
// on the same events. So the function must do the same thing each time:
//
//   - Side effects and everything slow happen in a [Step]. Only its outcome is kept. A step runs at
//     least once; [IdempotencyKey] is the same on every attempt, and a [StepTx] takes effect exactly once.
//   - Time comes from [Context.Now], random numbers from [Random] and [UUID], concurrency from [Go],
//     [Channel] and the like. The clock, global random numbers, go statements, channels,
//     locks and the order of a map's keys are not the same on every run.
//   - When code and history part, the run is blocked, not failed, until code that fits is deployed.
//
// A Context is not a context.Context, so most blocking calls do not compile in workflow code.
// Panics of workflow code block the run as well; panics of a step fail its attempt.
//
// # Strands
//
// [Go] runs a function concurrently, in a strand. Strands run one at a time and only change at waits, so they
// share variables without locks. For what needs more:
//
//   - [WaitGroup] waits for strands, [Group] also for their first error; [Map] works on a list, [Race] takes the fastest.
//   - [Channel] hands values over, [Promise] one value to many; [First], [FirstSuccess] and [All] wait for several futures.
//   - [Mutex] and [Semaphore] keep strands apart over several waits.
//   - [Await] waits until a condition of the workflow's own variables holds.
//   - [Select] waits for the first of timers, signals, futures and channels.
//
// All are first come, first served, and end with the scope's error when that is cancelled. Strands that wait for each
// other and nothing else never go on: such a run is reported, with the lines at which its strands wait.
//
// # Cancellation
//
// Each Context belongs to a scope. [WithCancel] and [WithTimeout] make scopes below it, [Shield] makes one
// that is not cancelled with it, for clean-up. A cancel request cancels the run's scope. In a cancelled
// scope waits return an error that is [ErrCancelled] (or [ErrTimeout]), timers end at once, and new steps and
// timers are not issued. Steps that are running are asked to stop by their context, and waited for:
// their outcome tells whether they took effect. What is ready at once is still returned, so a
// cancelled run can drain its signals.
//
// # Where verbs may be called
//
// From the workflow's function and what it calls, and from functions given to [Go]. Anywhere else
// (a goroutine, a step's body, a zero Context) verbs return [ErrOutside]; those that have no error to return panic
// with it. A goroutine that calls while workflow code happens to run cannot be told from that code: it is a data
// race, and the race detector reports it. A Context may be used in any strand of its run.
//
// Some functions may only look at the run: conditions of [Await], for one. There all verbs that change something or
// wait are refused with [ErrReadOnly], in the same manner.
package workflow
