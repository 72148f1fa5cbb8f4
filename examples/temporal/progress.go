package temporal

import (
	"context"

	"github.com/reprise-run/reprise/replay/workflow"
)

// Copy copies files one after the other. A query tells how far it is, also when it has ended.
const (
	Copy     workflow.Name[[]string, int]     = "copy"
	Progress workflow.Query[struct{}, HowFar] = "copy.progress"
)

// HowFar is the progress of a copy.
type HowFar struct {
	Now  string // the file in work
	Done int
	Of   int
}

// copier copies one file.
type copier func(ctx context.Context, file string) error

func (c copier) copy(ctx workflow.Context, files []string) (int, error) {
	at := HowFar{Of: len(files)}
	Progress.Handle(ctx, func(struct{}) (HowFar, error) { return at, nil })
	for _, file := range files {
		at.Now = file
		if err := workflow.Do(ctx, "copy", func(ctx context.Context) error { return c(ctx, file) }, nil); err != nil {
			return at.Done, err
		}
		at.Now, at.Done = "", at.Done+1
	}
	return at.Done, nil
}
