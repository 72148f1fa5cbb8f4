// Package flow declares workflows as graphs: named nodes, what each takes and after which others it
// comes, before any run exists. It is for work whose steps are known beforehand, that people want
// to see, and that is to be checked before it starts. What a flow cannot say is a loop or a branch
// of workflow code: a [Code] node is both.
//
//	const Order workflow.Name[Cart, flow.Results] = "order"
//
//	f := flow.New(Order, nil)
//	charge := flow.Step(f, "charge", f.Input(), charge, nil).Undo(refund, nil)
//	parcels := flow.Map(f, "pack", flow.Apply(f.Input(), itemsOf), pack, &flow.Options{Window: 20})
//	flow.Step(f, "ship", flow.Join(charge, parcels, newShipment), ship, nil)
//
//	runtime.Handle(node, Order, f.Build(), nil)
//	run, err := flows.Start(ctx, client, f, cart, nil) // package runtime/flows; runtime.Start does, too
//
// A flow is an ordinary workflow on the ordinary verbs: a step of it is a step with the node's name
// in the history, with its retries, limits, faults in tests and metrics.
//
// # Types
//
// A [Node] has the type of its result, and a [Source] that of its value. A function is given one
// source: what it does not take it cannot read, and what it takes is an edge, so there is no second
// list of dependencies that could be wrong. A function of another type does not compile. [Apply],
// [Join], [All], [Maybe], [Or], [Gather] and [As] make sources of others; [Node.After] is an edge
// without a value, and the only kind by which nodes can come to wait for each other.
//
// # What is checked
//
// [Flow.Build] panics with everything that is wrong at once, [Flow.Check] returns it: names, nil
// functions, options that a verb would refuse, cycles with the names of their nodes, results that
// may be missing where they are needed. Nothing has been started then.
//
// # Conditions and skipping
//
// A node with conditions ([When], [Contains], [Skipped], [Not]) runs if all hold. If not, or if it
// fails for good, its [Mode] says whether the run fails, the node is skipped, or everything that
// depends on it is skipped with it. A skipped node has no result: it has no key in [Results],
// and [Maybe] tells so. A node that takes its result without Maybe or Or is refused, but for a map,
// which has no items then. Each skip has a [Reason].
//
// # The end
//
// The output is the results of the leaves (nodes that nothing depends on) that completed. The first
// node that fails, with mode [Fail], fails the run with a *[NodeError]: the others are cancelled
// and waited for, and the nodes with an Undo that had completed are undone, the last first. A value
// of the wrong kind fails it with a *[TypeError] in any mode.
//
// # What runs do and keep
//
// A node begins in the turn in which the last of its parents ends. Of several that may begin at
// once the first by name is first, so the order of declarations means nothing. The history holds
// steps, timers, children and signals as ever. What no event tells is a record in the list of what
// a turn asked for, which costs no commit: what conditions said ("NODE if"), that a node that is no
// step has ended ("NODE: done"), was skipped ("NODE: skipped, REASON") or has failed the run
// ("NODE: failed"). So [Shape.State] reads where each node stands from a history alone, and
// conditions may be changed while runs are open: what they once said stays.
//
// # Changing a flow
//
// Nodes are known by their names, and the rule is that of all workflow code: a run goes on under a
// changed flow if everything that it has begun would have begun at the same point. So whatever lies
// ahead of a run may be added, removed, renamed or given other parents; functions, options and
// conditions may be changed anywhere. If the change lies behind, the run is blocked, not failed:
// the error names the node that the history has and the one that the code has, and the run goes on
// when code that fits is back. "reprise run replay" and package replaytest tell beforehand.
//
// For a change that lies behind open runs there are two ways. Most often a new version of the
// workflow is right: open runs end with the old flow, which stays registered. Or a node says which
// change brought it, with Options.Since, or takes it away, with Options.Until: runs that passed its
// place before skip it, or still have it, and all others see the new flow. To give a node other
// parents is both: the old one until the change, and a new one, of another name, since.
//
// A history also names the hash of the shape that its run began with, as a change "flow.HASH" that
// nobody has to ask about. With package runtime/flows the shape itself is stored, once for each
// hash, so that a run can be drawn by a program that does not have its code, and the two shapes can
// be compared ([Shape.Difference]).
package flow
