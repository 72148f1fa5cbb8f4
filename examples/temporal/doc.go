// Package temporal has programs that people write first on Temporal, and programs that its tests are about, written anew on
// Reprise from what they do. Each file is one program; README.md beside it says what each takes here, and what is not the same.
// The tests run them on package runtimetest: weeks of them take some seconds, and most crash at every turn.
package temporal

import (
	"context"

	"github.com/reprise-run/reprise/replay/workflow"
)

// do is a step without an output.
func do(ctx workflow.Context, name string, fn func(context.Context) error, o *workflow.StepOptions) error {
	_, err := workflow.Step(ctx, name, func(ctx context.Context) (struct{}, error) { return struct{}{}, fn(ctx) }, o)
	return err
}
