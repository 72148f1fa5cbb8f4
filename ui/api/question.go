package api

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// answer is what a question has got, or is getting.
type answer struct {
	began time.Time
	told  uint64        // of its subject, when it was asked
	made  chan struct{} // closed when the rest is set
	value any
	err   error
}

// ask answers a question of a stream: from what another one has just been told, or by asking. An
// answer serves as long as nothing tells of a change and it is no older than fresh. If something
// has, and the last answer is of a moment ago, that one serves once more and the reader looks
// again: a store that changes all the time is asked at a steady pace.
func (f *feed) ask(ctx context.Context, r *reader, about subject, name string, fresh, timeout time.Duration, create func(context.Context) (any, error)) (any, error) {
	f.mu.Lock()
	now := time.Now()
	gap, _ := f.paceLocked()
	a := f.answers[name]
	current := a != nil && a.told == f.told[about]
	if a == nil || !a.pending() && now.Sub(a.began) >= gap && (!current || now.Sub(a.began) >= fresh) {
		a = &answer{began: now, told: f.told[about], made: make(chan struct{}), err: errUnmade}
		f.answers[name] = a
		f.mu.Unlock()
		f.create(context.WithoutCancel(ctx), name, a, timeout, create)
	} else {
		f.mu.Unlock()
		if !current {
			r.again()
		}
	}
	select {
	case <-a.made:
		return a.value, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (a *answer) pending() bool {
	select {
	case <-a.made:
		return false
	default:
		return true
	}
}

// create asks for everybody, also when the stream that was first has ended. An error is told to
// those who wait, and is not kept.
func (f *feed) create(ctx context.Context, name string, a *answer, timeout time.Duration, create func(context.Context) (any, error)) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if a.err != nil && f.answers[name] == a {
			delete(f.answers, name)
		}
		f.forget(time.Now())
		close(a.made)
	}()
	a.value, a.err = create(ctx)
}

// forget drops answers that nobody has asked for again. The caller has locked.
func (f *feed) forget(now time.Time) {
	_, every := f.paceLocked()
	for name, a := range f.answers {
		if now.Sub(a.began) > fleetShare*every+forgetAfter {
			delete(f.answers, name)
		}
	}
}

// rows are the rows of all runs that streams watch, as texts to compare: one question for all of
// them. A run that is not in it has no row, or is watched since it was asked.
func (f *feed) rows(ctx context.Context, r *reader, client *runtime.Client, timeout time.Duration) (map[journal.RunID][]byte, error) {
	_, every := f.pace()
	v, err := f.ask(ctx, r, aboutFleet, "rows", every/2, timeout, func(ctx context.Context) (any, error) {
		f.mu.Lock()
		ids := make([]journal.RunID, 0, len(f.runs))
		for id := range f.runs {
			ids = append(ids, id)
		}
		f.mu.Unlock()
		rows := map[journal.RunID][]byte{}
		for f := (journal.ListFilter{IDs: ids, Limit: journal.ListMax}); ; { // a page may have fewer runs than there are ids
			page, err := client.List(ctx, f)
			if err != nil {
				return nil, err
			}
			for i := range page.Runs {
				if rows[page.Runs[i].ID], err = json.Marshal(&page.Runs[i]); err != nil {
					return nil, err
				}
			}
			if f.Cursor = page.Next; f.Cursor == "" {
				return rows, nil
			}
		}
	})
	rows, _ := v.(map[journal.RunID][]byte)
	return rows, err
}

// unchanged tells whether the row of a reader's run is what it was when it was asked last. seen is
// that row.
func unchanged(c *call, r *reader, seen *[]byte) bool {
	rows, err := c.h.feed.rows(c.ctx, r, c.h.client, c.h.o.Timeout)
	row := rows[r.run]
	if err != nil || row == nil {
		return false // the look finds out what that is
	}
	same := bytes.Equal(row, *seen)
	*seen = row
	return same
}
