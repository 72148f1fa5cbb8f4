package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// ErrNotPublished matches the error of [Published] for a name under which the run has published
// nothing yet.
var ErrNotPublished = errors.New("nothing is published")

// Published returns the value that a run has published under a name with workflow.Publish, as of
// its last commit. It needs no code of the workflow and no node, and reads the run's row alone,
// however long its history is. The run may be open or closed. T is the type that was published, or
// another one that decodes from it.
//
// Errors: journal.ErrNotFound; [ErrNotPublished]; those of decoding; ctx's.
func Published[T any](ctx context.Context, c *Client, run journal.RunID, name string) (T, error) {
	var v T
	p, err := c.published(ctx, run, name)
	if err == nil {
		err = c.j.Codec().Decode(p, &v)
	}
	if err != nil {
		return v, fmt.Errorf("published value %q of run %s: %w", name, run, err)
	}
	return v, nil
}

// PublishedIn is [Published] for a run of a page of [Client.List], which has what it has published:
// it reads nothing more.
func PublishedIn[T any](c *Client, run *journal.Run, name string) (T, error) {
	var v T
	err := ErrNotPublished
	if p, found := run.FindPublished(name); found {
		err = c.j.Codec().Decode(p, &v)
	}
	if err != nil {
		return v, fmt.Errorf("published value %q of run %s: %w", name, run.ID, err)
	}
	return v, nil
}

// behindAll is behind every message, so a load of those that follow it has the run's row alone.
const behindAll = journal.InboxSeq(1 << 62)

func (c *Client) published(ctx context.Context, run journal.RunID, name string) (journal.Payload, error) {
	h, err := c.load(ctx, driver.LoadRequest{Run: run, InboxOnly: true, AfterInbox: behindAll})
	if h == nil {
		return journal.Payload{}, err
	}
	p, found := h.Run.FindPublished(name)
	switch {
	case found: // if something else of the run cannot be read, that does not matter here
		return p, nil
	case err != nil:
		return p, err
	}
	return p, ErrNotPublished
}
