package bulk

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// Outcomes returns a page of what a job has done to each of its runs, open or closed, from its
// history of all generations. A page may have fewer outcomes than f.Limit, and none, although Next
// is set: it has those of one generation, which is what a call holds in memory. Those of the page
// of runs that an open job acts on now are not there yet. f may be nil.
//
// Of a job that an operator has reset or retried, what it did behind the point is not told: it is
// in the audit.
//
// Errors: journal.ErrNotFound; journal.ErrInvalid for a run that is no job, a cursor that is none
// or a negative limit; ctx's.
func Outcomes(ctx context.Context, c *runtime.Client, job journal.RunID, f *OutcomeFilter) (OutcomePage, error) {
	if f == nil {
		f = &OutcomeFilter{}
	}
	row, err := rowOf(ctx, c, job)
	if err != nil {
		return OutcomePage{}, err
	}
	at, err := parsePlace(f.Cursor)
	if err != nil {
		return OutcomePage{}, fmt.Errorf("outcomes of bulk job %s: %w", job, err)
	}
	limit := f.Limit
	switch {
	case limit < 0:
		return OutcomePage{}, fmt.Errorf("outcomes of bulk job %s: limit %d: %w", job, limit, journal.ErrInvalid)
	case limit == 0:
		limit = journal.ListDefault
	}
	r := outcomes{codec: runtime.JournalOf(c).Codec(), failures: f.Failures, limit: min(limit, journal.ListMax)}
	for ; at.generation <= row.Generation; at = (place{generation: at.generation + 1}) {
		events, err := c.HistoryOf(ctx, job, at.generation)
		if errors.Is(err, journal.ErrNotFound) && at.generation < row.Generation {
			continue // it is of the job of which this one is a fork
		}
		if err != nil {
			return OutcomePage{}, fmt.Errorf("outcomes of bulk job %s: %w", job, err)
		}
		// A generation that did not continue as new was left by an operator who went back. The
		// next one has the events that were kept, and they count once.
		goesOn := len(events) > 0 && events[len(events)-1].Kind == journal.RunContinued
		if at.generation < row.Generation && !goesOn {
			continue
		}
		n, err := r.read(events, at.passed)
		if err != nil {
			return OutcomePage{}, fmt.Errorf("outcomes of bulk job %s, generation %d: %w", job, at.generation, err)
		}
		page := OutcomePage{Outcomes: r.list}
		if n > 0 {
			page.Next = place{at.generation, n}.String()
		} else if goesOn {
			page.Next = place{generation: at.generation + 1}.String()
		}
		return page, nil
	}
	return OutcomePage{}, nil
}

// rowOf returns the row of a job.
func rowOf(ctx context.Context, c *runtime.Client, job journal.RunID) (*journal.Run, error) {
	page, err := c.List(ctx, journal.ListFilter{IDs: []journal.RunID{job}, Limit: 1})
	switch {
	case err != nil:
		return nil, err
	case len(page.Runs) == 0:
		return nil, fmt.Errorf("bulk job %s: %w", job, journal.ErrNotFound)
	case page.Runs[0].Workflow != Workflow:
		return nil, fmt.Errorf("run %s is no bulk job, but of workflow %s: %w", job, clip(page.Runs[0].Workflow), journal.ErrInvalid)
	}
	return &page.Runs[0], nil
}

// place is where a page of outcomes begins: behind some outcomes of a generation. A generation only
// grows, so the place stays.
type place struct {
	generation journal.Generation
	passed     int
}

func (p place) String() string { return fmt.Sprintf("%d.%d", p.generation, p.passed) }

func parsePlace(cursor string) (place, error) {
	if cursor == "" {
		return place{generation: 1}, nil
	}
	g, n, ok := strings.Cut(cursor, ".")
	generation, err := strconv.ParseInt(g, 10, 32)
	passed, err2 := strconv.ParseInt(n, 10, 32)
	if !ok || err != nil || err2 != nil || generation < 1 || passed < 0 {
		return place{}, fmt.Errorf("cursor %q is none of a page of outcomes: %w", clip(cursor), journal.ErrInvalid)
	}
	return place{journal.Generation(generation), int(passed)}, nil
}

// outcomes reads what the steps of a job have returned: of each page of runs its ids, and then what
// came of them.
type outcomes struct {
	codec    journal.Codec
	failures bool
	limit    int
	list     []Outcome
}

// read reads a generation behind the first outcomes of it. When the list is full, it returns how
// many are passed by then, else 0.
func (r *outcomes) read(events []journal.Event, passed int) (full int, err error) {
	var left []journal.RunID // of the page
	n := 0
	for i := range events {
		ev := &events[i]
		switch {
		case ev.Kind != journal.StepCompleted:
		case ev.Name == stepFind:
			var p page
			if err := r.codec.Decode(ev.Payload, &p); err != nil {
				return 0, fmt.Errorf("event %d: %w", ev.Seq, err)
			}
			left = p.Runs
		case ev.Name == stepAct:
			var t tally
			if err := r.codec.Decode(ev.Payload, &t); err != nil {
				return 0, fmt.Errorf("event %d: %w", ev.Seq, err)
			}
			tried := left[:min(t.Tried, len(left))]
			left = left[len(tried):]
			for _, o := range t.outcomes(tried, ev.Time) {
				if n++; n <= passed || r.failures && o.What != Failed && o.What != Unknown {
					continue
				}
				if len(r.list) == r.limit {
					return n - 1, nil
				}
				r.list = append(r.list, o)
			}
		}
	}
	return 0, nil
}
