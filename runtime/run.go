package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
)

// Run is a handle on one run whose result is an Out. It holds no resources and may be copied and
// used from many goroutines.
type Run[Out any] struct {
	c       *Client
	id      journal.RunID
	created bool
	local   bool // the client's own node executes it, so its end is announced inside the process
}

// RunOf returns a handle on a run that is known by id, for instance from [Client.FindKey] or from a
// database of the application. Nothing is read: whether the run exists, and is one of this
// workflow, shows when its result is asked for. The name serves for its types.
func RunOf[In, Out any](c *Client, _ workflow.Name[In, Out], id journal.RunID) *Run[Out] {
	return &Run[Out]{c: c, id: id}
}

// ID returns the id of the run.
func (r *Run[Out]) ID() journal.RunID { return r.id }

// Created tells whether the start that gave this handle made the run. It is false if a run had the
// key already, and for handles from [RunOf].
func (r *Run[Out]) Created() bool { return r.created }

// Result waits until the run is closed and returns its output, or a *[FailedError],
// *[CancelledError] or *[TerminatedError]. It waits through continue-as-new, and holds no
// connection while it waits. It may be called again and gives the same result, until the run is
// deleted.
//
// Errors of the wait itself: journal.ErrNotFound; journal.ErrStoreClosed; ctx's. A run that cannot
// continue for now, because it is blocked or quarantined, is waited for: it goes on when its code
// is repaired. If ctx has a deadline of at least a second from the call, and the run was in such a
// state half a second before it, the error matches [ErrBlocked] too and has the reason.
func (r *Run[Out]) Result(ctx context.Context) (Out, error) {
	var out Out
	terminal, err := r.c.waiters.AwaitEnd(ctx, r.id, r.local)
	if err != nil {
		return out, fmt.Errorf("result of run %s: %w", r.id, err)
	}
	if err := resultError(r.id, terminal); err != nil {
		return out, err
	}
	if err := r.c.j.Codec().Decode(terminal.Payload, &out); err != nil {
		return out, fmt.Errorf("result of run %s: %w", r.id, err)
	}
	return out, nil
}

// FindKey returns the id of the run that has, or last had, the key. Errors: journal.ErrNotFound;
// journal.ErrInvalid for what no run can have as its key, see StartOptions.Key; ctx's.
func (c *Client) FindKey(ctx context.Context, key string) (journal.RunID, error) {
	page, err := c.j.List(ctx, journal.ListFilter{Key: key, Limit: 1})
	if err != nil {
		return journal.RunID{}, err
	}
	if len(page.Runs) == 0 {
		return journal.RunID{}, fmt.Errorf("key %q: %w", key, journal.ErrNotFound)
	}
	return page.Runs[0].ID, nil
}

// List returns a page of runs, newest first, with their Parent, Generation and Task. Set the
// filter's Cursor to the page's Next for further pages; Next is empty on the last one. A page has
// at most f.Limit runs, at most journal.ListMax. A filter answers, for instance,
//
//   - what the children of a run are: Parent;
//   - which open runs still need version 1 of a workflow, before its code is removed: Workflow,
//     Version and Status;
//   - which open runs may still need the old branch of a change, before that is removed: Workflow
//     and Unchanged, with the id that workflow.Changed has.
func (c *Client) List(ctx context.Context, f journal.ListFilter) (journal.RunPage, error) {
	return c.j.List(ctx, f)
}

// History returns every event of the run's present generation, oldest first. It reads pages until
// the end, so the slice may be as long as NodeOptions.HistoryMax. Events that are added meanwhile
// may be included.
//
// If an event cannot be read, which a newer release may have written, the error is a
// *journal.UnreadableError that names it, and the slice holds the events before it. Other errors:
// journal.ErrNotFound, ctx's.
func (c *Client) History(ctx context.Context, run journal.RunID) ([]journal.Event, error) {
	_, all, err := historyOf(ctx, c, run, 0)
	return all, err
}

// HistoryOf is History for one generation of the run: an earlier one is what the run was before it
// continued as new, or the branch that a retry or reset has left. A generation that the run does
// not have is journal.ErrNotFound. Those before a fork's first one are of the run that was forked.
func (c *Client) HistoryOf(ctx context.Context, run journal.RunID, g journal.Generation) ([]journal.Event, error) {
	if g < 1 {
		return nil, fmt.Errorf("generation %d of run %s: %w: they are numbered from 1", g, run, journal.ErrInvalid)
	}
	h, all, err := historyOf(ctx, c, run, g)
	if err == nil && len(all) == 0 && g != h.Run.Generation {
		return nil, fmt.Errorf("generation %d of run %s: %w: the present one is %d", g, run, journal.ErrNotFound, h.Run.Generation)
	}
	return all, err
}

// historyOf reads every event of a generation, of the present one for 0.
func historyOf(ctx context.Context, c *Client, run journal.RunID, g journal.Generation) (*driver.History, []journal.Event, error) {
	var all []journal.Event
	h, err := c.pages(ctx, driver.LoadRequest{Run: run, EventsOnly: true, Generation: g}, func(page []journal.Event, first bool) {
		if first {
			all = nil
		}
		all = append(all, page...)
	})
	if unreadable, ok := errors.AsType[*journal.UnreadableError](err); ok && unreadable.Seq == 0 && h.Run.Generation > 0 {
		err = nil // what else cannot be read is not of the history, unless nothing of the run was found
	}
	return h, all, err
}

// pages reads the history of the present generation, page by page, and returns the last page. It
// begins again, with a first page, if the run continues as new meanwhile. With a
// *journal.UnreadableError it returns a page too, and has read what can be read.
func (c *Client) pages(ctx context.Context, q driver.LoadRequest, take func(page []journal.Event, first bool)) (*driver.History, error) {
	var generation journal.Generation
	for {
		h, err := c.load(ctx, q)
		if _, partly := errors.AsType[*journal.UnreadableError](err); err != nil && !partly {
			return nil, err
		}
		if q.AfterSeq > 0 && h.Run.Generation != generation {
			q.AfterSeq = 0
			continue
		}
		generation = h.Run.Generation
		take(h.Events, q.AfterSeq == 0)
		if !h.More {
			return h, err
		}
		q.AfterSeq = h.Events[len(h.Events)-1].Seq
	}
}

// load reads one history. With a *journal.UnreadableError it also returns what can be read.
func (c *Client) load(ctx context.Context, r driver.LoadRequest) (*driver.History, error) {
	h, err := c.j.Load(ctx, []driver.LoadRequest{r})
	if err != nil {
		return nil, err
	}
	if unreadable, ok := errors.AsType[*journal.UnreadableError](h[0].Err); ok {
		return &h[0], unreadable
	}
	if h[0].Err != nil {
		return nil, fmt.Errorf("run %s: %w", r.Run, h[0].Err)
	}
	return &h[0], nil
}
