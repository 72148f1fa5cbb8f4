package runtime

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// ancestors are the runs that may wait for a run: its parent first, then the parent's own. A run
// that waits for a child keeps its places meanwhile, so a child that needs one of them waits for
// ever, and so does its parent.
type ancestors []journal.RunID

// readAncestors reads as many as whyAncestorsMax, with a question each.
func readAncestors(ctx context.Context, j *driver.Journal, run *journal.Run) (list ancestors, err error) {
	for p := run.Parent; p != nil && len(list) < whyAncestorsMax; {
		list = append(list, p.Run)
		page, err := j.List(ctx, journal.ListFilter{IDs: []journal.RunID{p.Run}})
		if err != nil {
			return nil, err
		}
		if len(page.Runs) == 0 { // deleted meanwhile
			break
		}
		p = page.Runs[0].Parent
	}
	return list, nil
}

// blames adds to a reason for waiting that an ancestor has one of the places, and how to go on. The
// reason still has all holders.
func (list ancestors) blames(r *Reason) {
	var first journal.LimitClaim
	depth, held := len(list), 0
	for _, h := range r.Limit.Holders {
		if i := slices.Index(list, h.Run); i >= 0 {
			if held++; i < depth {
				depth, first = i, h
			}
		}
	}
	if held == 0 {
		return
	}
	who := "its parent"
	if depth > 0 {
		who = "an ancestor"
	}
	r.Text += fmt.Sprintf("; %s, run %s, holds a place: if that run waits for this one, neither goes on", who, first.Run)
	r.Remedy = fmt.Sprintf("let both go on: reprise limit release %s; then repair the workflow: a child must not need a limit that its parent holds",
		first.Handle())
	if held == len(r.Limit.Holders) {
		r.Limit.Expected, r.Limit.Estimate = time.Time{}, "nobody knows when it begins"
	}
}
