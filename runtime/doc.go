// Package runtime is what an application uses: a [Node] executes runs, a [Client] starts and talks
// to them.
//
//	store, err := postgres.Open(ctx, dsn, nil)
//	j := journal.New(store, nil)
//	node := runtime.NewNode(j, nil)
//	runtime.Handle(node, Checkout, checkout, nil)
//	err = node.Run(ctx) // blocks until ctx ends, then drains; wait for it before the process ends
//
// and, meanwhile or in another process,
//
//	run, err := runtime.Start(ctx, node.Client(), Checkout, order,
//		&runtime.StartOptions{Key: "checkout:9182"})
//	receipt, err := run.Result(ctx)
//
// What workflow functions may do is in package replay/workflow, what is stored and promised in
// package journal, which defines J1 to J14.
//
// # Talking to runs
//
//   - [Start] starts a run; [Run.Result] waits for its end. [RunOf] and [Client.FindKey] find a run
//     again.
//   - [Signal] puts a message into a run's inbox and does not wait for what comes of it;
//     [SignalWithStart] starts the run if there is none.
//   - [CallUpdate] changes a run and waits for its answer; [SendUpdate] leaves the waiting to a
//     handle; [UpdateWithStart] starts the run if there is none.
//   - [Query] asks a run without touching it. It takes a node with the run's code, because the
//     answer is made by replaying the run's history.
//   - [Client.Cancel] asks a run to end; [Client.Terminate] ends it without running its code.
//   - [Client.Describe], [Client.List] and [Client.History] look at what is stored, without any
//     code.
//
// # Limits
//
//   - [SetLimit] makes or changes a limit, while everything runs: so many at once of each key, of
//     all keys together, or so much cost in a time. [RemoveLimit] removes it.
//   - Steps name what they need in workflow.StepOptions.Limits, with a key and a cost, and correct
//     the cost with workflow.Settle. They hold it while their body runs.
//   - Runs name theirs in StartOptions.Limits, workflows in HandleOptions.Limits and [LimitsFrom],
//     queues in NodeOptions.QueueLimits. A run holds them from its first turn until it closes.
//   - [Limits] tells who holds and who waits, [Client.Why] why a run does; [ReleaseClaim] takes
//     away what hangs.
//   - journal.Limit.MaxBacklog bounds how many runs wait, and OnFull says what becomes of
//     the others.
//
// # Runs at times, of many inputs, and acting on many
//
// Package runtime/schedule starts runs at times of the calendar: schedule.Apply makes a set of
// schedules as a whole, schedule.Put and schedule.Delete change single ones, schedule.Pause and
// schedule.Resume halt one, schedule.Trigger and schedule.Backfill start what is wanted now or was
// missed. Package runtime/gather makes one run of many inputs: gather.Batch, gather.Debounce and
// gather.Latest say which, gather.Put and gather.Add give them inputs. Package runtime/flows
// starts, shows and draws graphs that were declared with package replay/workflow/flow. Package
// runtime/bulk does one thing to all runs of a filter. All are workflows like any other, so a node
// executes them after schedule.Handle, gather.Handle, flows.Handle and bulk.Handle.
//
// # A node
//
// A node joins with a lease and renews one row for everything it owns. It claims due tasks of the
// workflows that were registered with [Handle], as many as it has room for, and hands them to its
// actors. It is woken by hints, from its own process or from the store; a poll finds the same later
// if hints are lost.
//
// A node that could not renew in time by its own clock stops: the contexts of its steps are
// cancelled, its actors are thrown away, and it joins again as a new node. Whatever it still tries
// to write is refused by the fence (J3).
//
// # Batches
//
// Commits, starts, messages and loads are batched: what arrives while a batch is being written goes
// into the next one. So batches grow with the load, and on a quiet node nothing waits for others.
//
// # Interceptors
//
// Code of your own that belongs around every call of a client, every workflow or every step is an
// [Interceptor]: it may refuse, add to the context, or look at how things end. It is given to the
// node and to the clients with their options.
//
// # Errors
//
// Errors wrap what is behind them: use errors.Is with the sentinels here and in package journal,
// and errors.As with the types. A call that ends with its context's error may have taken effect.
// [Client] says how to find out.
package runtime
