// Package runtimetest tests workflows with the real engine, on a store in memory, inside a bubble
// of testing/synctest. The bubble's clock jumps to the next moment at which something is due, so a
// month of waiting takes some milliseconds, and no test depends on how fast a machine is.
//
//	func TestApproval(t *testing.T) {
//		runtimetest.Test(t, func(e *runtimetest.Env) {
//			runtimetest.Handle(e, Approval, approval, nil)
//			run := runtimetest.Start(e, Approval, Request{Days: 3}, nil)
//			e.After(48*time.Hour, func() { runtimetest.Signal(e, run.ID(), Decided, true, nil) })
//			if got := run.Must(); got != "approved" {
//				e.Errorf("got %q", got)
//			}
//		})
//	}
//
// # What a test can do
//
//   - Steps are executed as they are, unless the test replaces them: [Fake] by the step's name,
//     [Env.FailNext] for errors that retries must get over. To see what a step was called with,
//     give the workflow a fake of what the step calls, as in production it has the real one.
//   - A StepTx gets a *memory.Effects, or with [TxFrom] a transaction of a real database.
//   - The interceptors of Env.Node are around steps and their fakes, around workflows, and around
//     the calls of the test's client.
//   - Time passes while the test waits, in [Run.Result] or [Env.Sleep]. [Env.After] does something
//     at a chosen time: [Signal], [SignalWithStart], [Env.Cancel], or whatever a client can do with
//     [Env.Client]. [Update] waits for its answer as Run.Result does, [SendUpdate] and
//     [UpdateWithStart] leave that to their handle, and [Query] asks the node.
//   - Register every workflow of a family: children are runs like others, and are checked like
//     them.
//   - [Env.Crash] ends the node as kill -9 does and [Env.Restart] as a deployment does; a new node
//     takes its runs over at once. Clients and fakes are not affected.
//   - [EveryCrash] runs a test once for every moment at which the node can crash.
//   - [Env.History] and [Env.Generations] return what is recorded, for package replaytest to keep.
//   - [Env.WantHistory] compares what is recorded; [Env.Calls] and [Env.Effects] return what was
//     executed.
//
// # What is checked without asking
//
// A run that is blocked, because its code panicked or does not fit its history, fails the test at
// once. So does workflow code that blocks on a Go channel or calls time.Sleep, with its line: the
// bubble's clock moves during a turn only if the code waits for something that is not of package
// workflow. Code that computes for long, or reads time.Now without waiting, is not found by that.
// When the test's function has returned, every generation of every run is checked. Each
// outcome is recorded once, and only for a step that was executed. And the functions registered
// with [Handle] do the same again from every prefix of the run's history, which is what a crash at
// any moment would ask of them; of histories with more than about 300 events from a part of the
// prefixes, unless [Env.EveryPrefix] is set. Functions that are registered with [Env.Register] are
// not replayed, because a node does not give them out.
//
// # SQL
//
// With [TxFrom] the bodies of StepTx, DoTx and PushTx execute their SQL on a database of the
// test's. Those of StepIn and DoIn do so without it, if the test gives the workflow a
// postgres.Database or a sqlite.Database. What they do is there once, whatever crashes. For both:
//
//   - Open the database in the function of the test, and close it by Env.Cleanup. The goroutines
//     and channels of a pool belong to the bubble then. If they do not, package sync or the Go
//     runtime ends the process: "WaitGroup.Add called from inside and outside synctest bubble",
//     "send on synctest channel from outside bubble".
//   - EveryCrash calls the function for each crash: begin with empty tables, as those of a SQLite
//     file in Env.TempDir are, and let the server of Postgres run outside.
//   - The clock stands still while anybody waits for the database. So a test hangs if somebody
//     waits for a lock whose holder waits for the clock. Bodies never wait for each other with
//     TxFrom. The test's own SQL may wait for a body that sleeps, and the body of a StepIn for one
//     of a crashed node that sleeps and does not look at its context.
//   - Take a pool, not one connection. pgx closes a connection whose statement was interrupted, and
//     a crash does that.
//   - Certificates are not valid yet in the year 2000: connect without TLS.
//
// # What to know
//
//   - The bubble's clock moves only while every goroutine of the bubble waits for the clock or for
//     another one of them. So a step that waits for a socket, or for a goroutine outside of the
//     test, stops the clock. Fake it, unless it is sure to get its answer soon, as from a database.
//   - The clock starts at midnight UTC of 2000-01-01.
//   - What is due at the same moment happens in any order. Give a signal that races with a timer a
//     minute more or less, or try both orders with package replaytest.
//   - A crash cannot stop a goroutine. The contexts of the dead node's steps are cancelled, and
//     whatever those steps return then is discarded.
//   - Set the fields of [Env] before the first run is started.
package runtimetest
