package temporal

import (
	"context"

	"github.com/reprise-run/reprise/replay/workflow"
)

// Greeting asks one step for one answer.
const Greeting workflow.Name[string, string] = "greeting"

func greeting(ctx workflow.Context, name string) (string, error) {
	return workflow.Step(ctx, "greet", func(context.Context) (string, error) { return "Hello, " + name + "!", nil }, nil)
}
