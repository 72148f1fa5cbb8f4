// Package flows runs flows of package replay/workflow/flow: it registers and starts them, keeps
// their shapes, and tells where the nodes of a run stand.
//
//	flows.Handle(node, order, nil)
//	run, err := flows.Start(ctx, client, order, cart, nil)
//	state, err := flows.State(ctx, client, run.ID(), nil) // now and then
//	fmt.Print(state.Mermaid())
//
// A flow is a workflow like others, so runtime.Handle and runtime.Start do, too: what they do not
// is refuse an input before anything is stored, and keep the shape.
//
// # Where shapes are kept
//
// A run's history names the hash of the shape that it began with. The shape itself is kept once: it
// is the input of a run with the key "flow:HASH", of the workflow "reprise.flow.NAME", which the
// nodes complete that serve the flow. [Start] writes it before the first run of a shape that its
// process starts, [Store] whenever it is called, and a second write of a shape finds the first
// (J8). So every program that can read the store can draw every run, also when the code is gone,
// and the store has no table for it. If such a run is deleted, the shape is written again by the
// next process that starts a run of it.
package flows
