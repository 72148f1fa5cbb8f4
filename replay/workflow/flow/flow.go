package flow

import (
	"github.com/reprise-run/reprise/replay/workflow"
)

// Flow is the declaration of a workflow whose steps and their order are known before it runs. In is
// the type of its input; its output is always [Results]. Declare nodes with the functions of this
// package, then register what [Flow.Build] returns. A Flow is declared by one goroutine, and may be
// used by many once it is built.
type Flow[In any] struct{ *graph }

// New begins the declaration of a flow. The name is the durable name of its workflow. steps are the
// options of the flow's steps that have none of their own; nil for the defaults of a step.
func New[In any](name workflow.Name[In, Results], steps *workflow.StepOptions) *Flow[In] {
	return &Flow[In]{&graph{name: string(name), steps: steps}}
}

// Name is the name that New was given.
func (f *Flow[In]) Name() workflow.Name[In, Results] { return workflow.Name[In, Results](f.name) }

// Input is the input of the flow, for nodes and conditions.
func (f *Flow[In]) Input() Source[In] { return input[In]{} }

// Build returns the flow's workflow, to be registered under its name. From then on nothing may be
// declared.
//
// It panics with the *DeclarationError of [Flow.Check], as the registration of a workflow does.
func (f *Flow[In]) Build() func(workflow.Context, In) (Results, error) {
	p, err := f.compile()
	if err != nil {
		panic(err)
	}
	return func(ctx workflow.Context, in In) (Results, error) { return p.execute(ctx, in) }
}

// Check returns everything that is wrong with the declaration as one *[DeclarationError], or nil.
// Like Build it ends the declaration.
func (f *Flow[In]) Check() error {
	_, err := f.compile()
	return err
}

// CheckInput tells whether a run could begin with an input: it returns the *[TypeError] with which
// the run would fail in its first turn, because a map over the input finds no list in it, or the
// *[DeclarationError] of Check. Package runtime/flows calls it before it starts a run.
func (f *Flow[In]) CheckInput(in In) error {
	p, err := f.compile()
	if err != nil {
		return err
	}
	return p.checkInput(in)
}

// Shape is what the flow looks like, to be drawn or stored. It panics as Build does.
func (f *Flow[In]) Shape() *Shape {
	p, err := f.compile()
	if err != nil {
		panic(err)
	}
	return p.shape
}
