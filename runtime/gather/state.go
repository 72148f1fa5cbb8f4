package gather

import (
	"context"
	"encoding/json"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

const (
	// Workflow is the name of the workflow that collectors are runs of.
	Workflow = "reprise.gather"

	// Published is the name under which a collector's run publishes its [Info].
	Published = "gather"

	name   workflow.Name[state, Info]     = Workflow
	inputs workflow.Signal[item]          = "reprise.gather.put"
	joins  workflow.Update[item, receipt] = "reprise.gather.add"
)

type none struct{}

// receipt answers an input whose sender waits.
type receipt struct {
	Batch int64         `json:"batch"`        // its number, from 1
	Run   journal.RunID `json:"run,omitzero"` // zero if the collector could not wait until it is started
}

// Info is what a collector's run has done when it started its newest batch. It is published, see
// runtime.Published.
type Info struct {
	Batches int64         `json:"batches"` // started so far
	Inputs  int64         `json:"inputs"`  // taken so far
	Last    journal.RunID `json:"last,omitzero"`
}

// state is the input of a generation of a collector's run.
type state struct {
	Name string `json:"name"`
	Key  string `json:"key,omitempty"`
	Info
	Pending []json.RawMessage `json:"pending,omitempty"` // inputs of the next batch
	Count   int               `json:"count,omitempty"`   // inputs that came for it, with those that were dropped
	Plan    plan              `json:"plan,omitzero"`     // of the newest of them
	First   time.Time         `json:"first,omitzero"`    // when they came
	Newest  time.Time         `json:"newest,omitzero"`
	Open    journal.RunID     `json:"open,omitzero"` // of a latest collector: the run that is open, or was
}

// isOpen tells whether a run is there and open.
func isOpen(ctx context.Context, c *runtime.Client, run journal.RunID) (open bool, err error) {
	page, err := c.List(ctx, journal.ListFilter{IDs: []journal.RunID{run}, Limit: 1})
	return err == nil && len(page.Runs) > 0 && page.Runs[0].Status == journal.Open, err
}

// patiently repeats a step for as long as the store is away.
var patiently = &workflow.StepOptions{Retry: &workflow.RetryPolicy{Max: patienceMax}}
