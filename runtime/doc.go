// Package runtime is what an application uses: a [Node] executes runs, a [Client] starts and talks to them.
//
//	store, err := postgres.Open(ctx, dsn, nil)
//	j := journal.New(store, nil)
//	node := runtime.NewNode(j, nil)
//	runtime.Handle(node, Checkout, checkout, nil)
//	go node.Run(ctx) // blocks; drains when ctx ends
//
//	run, err := runtime.Start(ctx, node.Client(), Checkout, order, &runtime.StartOptions{Key: "checkout:9182"})
//	receipt, err := run.Result(ctx)
//
// # Talking to runs
//
//   - [Signal] puts a message into a run's inbox and does not wait for what comes of it; [SignalWithStart] starts the run if need be.
//   - [CallUpdate] changes a run and has its answer; [SendUpdate] has it later; [UpdateWithStart] starts the run if need be.
//   - [Query] asks a run without touching it. It takes a node with the run's code, because the answer is made by replaying the
//     run's history.
//   - [Client.Cancel] asks a run to end; [Client.Terminate] ends it without running its code.
//   - [Client.Describe], [Client.List] and [Client.History] look at what is stored, without any code.
//
// # A node
//
// A node joins with a lease and renews one row for everything it owns. It claims due tasks of what was registered with
// [Handle], as many as it has room for, and hands them to its actors. Commits, starts, messages and loads are
// gathered: whatever arrives while a batch is being written goes into the next one, so batches grow with the load and
// nothing waits when there is none.
//
// A node that could not renew in time by its own clock stops: its steps' contexts are cancelled, its actors are thrown
// away, and it joins again as a new node. Whatever it still tries to write is refused by the fence (J3).
//
// # Hints
//
// Claiming is driven by hints (inside the process, or from the store) and by a poll that alone is correct.
package runtime
