package driver

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// sendLater is Send in the transaction of a step. A run that is closed or unknown is told at once,
// unless this transaction starts it.
func (j *Journal) sendLater(ctx context.Context, o *Outbox, messages []journal.Message) ([]journal.Sent, error) {
	gone, err := j.goneReceivers(ctx, o, messages)
	if err != nil {
		return nil, fmt.Errorf("send: %w", err)
	}
	out := make([]journal.Sent, len(messages))
	for i := range messages {
		m := messages[i]
		if out[i].Err = j.prepareMessage(&m); out[i].Err == nil {
			out[i].Err = gone[m.Run]
		}
		if out[i].Err == nil {
			out[i].Err = o.send(m)
		}
	}
	return out, nil
}

// goneReceivers returns why some runs can get no messages now. All are asked about at once.
func (j *Journal) goneReceivers(ctx context.Context, o *Outbox, messages []journal.Message) (map[journal.RunID]error, error) {
	var runs []journal.RunID
	asked, gone := map[journal.RunID]bool{}, map[journal.RunID]error{}
	for i := range messages {
		run := messages[i].Run
		if _, ours := o.starting(run, ""); !ours && !asked[run] && !run.IsZero() {
			asked[run], runs = true, append(runs, run)
		}
	}
	err := inBatches(len(runs), func(from, to int) error {
		ends, err := j.store.Ends(ctx, runs[from:to])
		for i := range ends {
			if gone[ends[i].Run] = journal.ErrClosed; errors.Is(ends[i].Err, journal.ErrNotFound) {
				gone[ends[i].Run] = journal.ErrNotFound
			}
		}
		return err
	})
	return gone, err
}

// startLater is Start in the transaction of a step.
func (j *Journal) startLater(ctx context.Context, o *Outbox, starts []journal.Start) ([]journal.Started, error) {
	out := make([]journal.Started, len(starts))
	for i := range starts {
		s := starts[i]
		if err := j.prepareStart(&s); err != nil {
			out[i] = journal.Started{Run: s.ID, Err: err}
			continue
		}
		holder, err := j.holder(ctx, o, &s)
		switch {
		case err != nil:
			return nil, fmt.Errorf("start: %w", err)
		case holder == nil:
			out[i] = journal.Started{Run: s.ID, Created: true, Err: o.start(s)}
		default:
			out[i] = j.joinLater(o, &s, holder)
		}
	}
	return out, nil
}

// holder returns the run that has the key of a start and keeps it, nil for none.
func (j *Journal) holder(ctx context.Context, o *Outbox, s *journal.Start) (*journal.Run, error) {
	if first, ours := o.starting(s.ID, s.Key); ours {
		return &journal.Run{ID: first.ID, Workflow: first.Workflow}, nil
	}
	if s.Key == "" {
		return nil, nil
	}
	page, err := j.store.List(ctx, journal.ListFilter{Key: s.Key, Limit: 1}) // the newest one has the key
	if err != nil || len(page.Runs) == 0 || page.Runs[0].Workflow == s.Workflow && s.Reuse.Replaces(page.Runs[0].Status) {
		return nil, err
	}
	return &page.Runs[0], nil
}

// joinLater answers a start whose key belongs to another run.
func (j *Journal) joinLater(o *Outbox, s *journal.Start, holder *journal.Run) journal.Started {
	if holder.Workflow != s.Workflow {
		return journal.Started{Run: holder.ID, Err: &journal.KeyConflictError{Key: s.Key, Run: holder.ID, Workflow: holder.Workflow}}
	}
	out := journal.Started{Run: holder.ID}
	switch {
	case s.Message == nil:
	case holder.Status.Closed():
		out.Sent.Err = journal.ErrClosed
	default:
		m := *s.Message
		m.Run = holder.ID
		out.Sent.Err = o.send(m)
	}
	return out
}
