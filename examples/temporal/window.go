package temporal

import (
	"context"
	"fmt"

	"github.com/reprise-run/reprise/replay/workflow"
)

// A Batch works on many records, each in a child of its own, and at most a window of them at a
// time. It continues as new again and again. Its children stay open meanwhile and report by a
// signal, which reaches whichever generation is running.
const (
	Batch      workflow.Name[Window, int]        = "batch"
	Record     workflow.Name[RecordOf, struct{}] = "batch.record"
	RecordDone workflow.Signal[int]              = "batch.record.done"
)

// Window is where a batch is.
type Window struct {
	Records int // how many there are
	Size    int // of the window
	Started int
	Done    int
}

// RecordOf is one record of a batch.
type RecordOf struct {
	Batch workflow.RunID
	Name  string // of the batch
	N     int
}

const startsPerGeneration = 5

func batch(ctx workflow.Context, w Window) (int, error) {
	for started := 0; w.Done < w.Records; {
		if w.Started < w.Records && w.Started-w.Done < w.Size {
			if started++; started > startsPerGeneration {
				return 0, workflow.ContinueAsNew(ctx, Batch, w, nil)
			}
			workflow.CallAsync(ctx, Record, RecordOf{ctx.Info().Run, ctx.Info().Key, w.Started}, &workflow.ChildOptions{
				Key: fmt.Sprintf("%s/%d", ctx.Info().Key, w.Started),
			})
			w.Started++
			continue
		}
		if _, err := RecordDone.Receive(ctx); err != nil {
			return w.Done, err
		}
		w.Done++
	}
	return w.Done, nil
}

// recorder does the work of one record.
type recorder func(ctx context.Context, n int) error

func (r recorder) record(ctx workflow.Context, of RecordOf) (struct{}, error) {
	if err := workflow.Do(ctx, "work", func(ctx context.Context) error { return r(ctx, of.N) }, nil); err != nil {
		return struct{}{}, err
	}
	return struct{}{}, RecordDone.Send(ctx, of.Batch, of.N)
}
