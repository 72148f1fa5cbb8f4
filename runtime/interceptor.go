package runtime

import (
	"context"

	"github.com/reprise-run/reprise/actor"
	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/internal/intercept"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

// Interceptor is code of your own around what others call: who may do it, how long it takes, what
// goes with it. See [NodeOptions].Interceptors and [ClientOptions].Interceptors. A field that is
// nil intercepts nothing.
//
// Each part gets next, which does what is intercepted. Of several interceptors the first is
// outermost: it begins first, and its next is the second one. The rules are the same for all parts:
//
//   - An interceptor that returns an error without calling next refuses, and nothing is done.
//   - The error of next may be returned as it is, wrapped, or replaced. What next has done stays
//     done.
//   - Nil means that the outcome of next counts. Nil without calling next, or although next has
//     failed, is a mistake, because there is no outcome: whoever called gets an error that names
//     the interceptor and matches journal.ErrInvalid.
//   - next may be called once, before the interceptor returns, and on the interceptor's own
//     goroutine. Any other call does nothing and returns an error.
//
// Interceptors are called by many goroutines at once.
type Interceptor struct {
	// Client is around calls of clients: see [Call]. next does the call with the context that it is
	// given. Nothing is stored before the innermost next. ctx has the span of the call, if there is
	// one.
	Client func(ctx context.Context, call *Call, next func(context.Context) error) error
	// Workflow is around the functions of workflows, and is workflow code itself: it runs in every
	// replay, and what it asks for is in the histories. Its mistakes block the run.
	Workflow workflow.Interceptor
	// Step is around the body of each attempt of each step, those in transactions too.
	// workflow.StepInfo tells which one it is. The body sees the context that next is given, with
	// its values and its deadline; it must come from ctx. The error of the outermost interceptor is
	// the attempt's, which is repeated as the step's policy says. Its panics are treated like those
	// of the body.
	//
	// The attempt's time limits, its span and what is measured of it cover the interceptors. A
	// transaction of a StepTx is open meanwhile, and commits only if they return nil. What fakes
	// the body in a test, NodeOptions.Intercept or package runtimetest, is inside.
	Step func(ctx context.Context, next func(context.Context) error) error
}

// workflowsOf returns the parts that are around workflows.
func workflowsOf(list []Interceptor) (parts []workflow.Interceptor) {
	for _, i := range list {
		parts = append(parts, i.Workflow)
	}
	return parts
}

// stepsOf returns the parts that are around bodies of steps.
func stepsOf(list []Interceptor) (parts []actor.StepInterceptor) {
	for _, i := range list {
		if i.Step != nil {
			parts = append(parts, i.Step)
		}
	}
	return parts
}

// asked is what the interceptors of clients get.
type asked struct {
	ctx   context.Context
	call  *Call
	start *StartOptions // of call when it was last looked at, nil for none
}

// own makes the options of a start the call's own before an interceptor sees them, since one before
// it may have replaced them by some that many calls share, or that have no maps.
func (a asked) own() asked {
	s := a.call.Start
	if a.start != nil && (s != a.start || s.Labels == nil || s.Headers == nil) {
		a.call.Start = s.forInterceptors()
		a.start = a.call.Start
	}
	return a
}

// aroundCalls makes a chain of the parts that are around calls.
func aroundCalls(list []Interceptor) intercept.Chain[asked] {
	c := intercept.Chain[asked]{What: "client interceptor", Own: "goroutine", Wrong: journal.ErrInvalid}
	for _, i := range list {
		if i.Client == nil {
			continue
		}
		c.Layers = append(c.Layers, intercept.Layer[asked]{Name: callsite.OfFunc(i.Client), Call: func(a asked, next func(asked) error) error {
			a = a.own()
			return i.Client(a.ctx, a.call, func(ctx context.Context) error { return next(asked{ctx, a.call, a.start}) })
		}})
	}
	return c
}
