package main

import (
	"testing"

	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// A workflow is tested on the real engine, with nothing installed: go test -run Flow
// ./examples/hello
func TestFlowHello(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, Hello, hello, nil)
		run := runtimetest.Start(e, Hello, "world", nil)
		if got := run.Must(); got != "Hello, world!" {
			e.Errorf("greeting %q", got)
		}
		e.WantHistory(run.ID(), `
			1 RunStarted > step greet
			2 StepCompleted greet
			3 RunCompleted
		`)
	})
}

func TestFlowHelloSurvivesEveryCrash(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, Hello, hello, nil)
		if got := runtimetest.Start(e, Hello, "world", nil).Must(); got != "Hello, world!" {
			e.Errorf("greeting %q", got)
		}
	})
}
