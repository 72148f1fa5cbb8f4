package runtime

import (
	"context"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Input returns the input of a run's present generation. It needs no code of the workflow and no
// node, and reads the run's row alone, however long its history is. The run may be open or closed.
// In is the type with which it was started, or another one that decodes from it.
//
// Errors: journal.ErrNotFound; those of decoding; ctx's.
func Input[In any](ctx context.Context, c *Client, run journal.RunID) (In, error) {
	var in In
	h, err := c.load(ctx, driver.LoadRequest{Run: run, InboxOnly: true, AfterInbox: behindAll})
	if err == nil {
		err = c.j.Codec().Decode(h.Run.Input, &in)
	}
	if err != nil {
		return in, fmt.Errorf("input of run %s: %w", run, err)
	}
	return in, nil
}
