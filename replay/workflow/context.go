// Package workflow is what authors of workflows import.
package workflow

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// Context is given to workflow code. It is deliberately not a context.Context.
type Context struct{ m *replay.Machine }

// Name is the durable name of a workflow, with the types of its input and output.
type Name[In, Out any] string

// Signal is the durable name of a signal, with the type of its payload.
type Signal[T any] string

// Define makes a workflow out of a function.
func Define[In, Out any](name Name[In, Out], version int32, fn func(Context, In) (Out, error)) *replay.Definition {
	return &replay.Definition{Name: string(name), Version: version, Run: func(m *replay.Machine, input journal.Payload) (journal.Payload, error) {
		return journal.Payload{}, nil
	}}
}
