package runtime

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// limitedText names the limits that a run waits for before it begins.
func limitedText(run *journal.Run) string {
	var names []string
	for _, n := range run.Limits {
		names = append(names, n.String())
	}
	return "it begins when it has what it holds until it closes: " + strings.Join(names, "; ")
}

// readHolders reads the runs that hold what a run waits for, as far as its reasons name them.
func readHolders(ctx context.Context, j *driver.Journal, l *limitWaits) (runs map[journal.RunID]*journal.Run, err error) {
	var ids []journal.RunID
	for i := range l.reasons {
		for _, h := range l.reasons[i].Limit.Holders {
			if h.Node == 0 && !slices.Contains(ids, h.Run) {
				ids = append(ids, h.Run)
			}
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	runs = map[journal.RunID]*journal.Run{}
	for f := (journal.ListFilter{IDs: ids, Limit: len(ids)}); ; { // a page may have fewer runs than there are ids
		page, err := j.List(ctx, f)
		for i := range page.Runs {
			runs[page.Runs[i].ID] = &page.Runs[i]
		}
		if f.Cursor = page.Next; err != nil || f.Cursor == "" {
			return runs, err
		}
	}
}

// blamesIdle adds to a reason for waiting that a run has one of the places which has never begun,
// and cannot.
func (w *why) blamesIdle(r *Reason) {
	for _, h := range r.Limit.Holders {
		run := w.holders[h.Run]
		if run == nil || run.Task == nil || run.Task.Owner != 0 || run.Task.Fence != 0 {
			continue
		}
		if because := w.idle(run.Task); because != "" {
			r.Text += fmt.Sprintf("; run %s holds a place and cannot begin: %s", h.Run, because)
			r.Remedy = fmt.Sprintf("give its place to others, and let it begin later without one: reprise limit release %s", h.Handle())
			return
		}
	}
}

// idle is why no node may begin a run that is due; empty if one may.
func (w *why) idle(t *journal.Task) string {
	route := journal.Route{Queue: t.Queue, Workflow: t.Workflow, Version: t.Version}
	for i := range w.scopes {
		if w.scopes[i].Scope.Covers(route) {
			return fmt.Sprintf("%s is paused", w.scopes[i].Scope)
		}
	}
	for i := range w.nodes {
		if w.nodes[i].ExpiresAt.After(w.now) && slices.Contains(w.nodes[i].Routes, route) {
			if t.State.OnHold() {
				return "it is paused"
			}
			return ""
		}
	}
	return fmt.Sprintf("no live node serves workflow %s, version %d, queue %s", t.Workflow, t.Version, t.Queue)
}

// inLine adds to a reason for which no node begins a run what that does to others who need its
// limits.
func (w *why) inLine(r *Reason) {
	switch t := w.d.Run.Task; {
	case t.State == journal.Limited:
		r.Text += "; until then others pass it in the lines of its limits, where it keeps its place"
	case t.Owner == 0 && t.Fence == 0 && w.limits.held != nil:
		r.Text += "; it holds its limits and has not begun"
		r.Remedy += "; to give its place to others, and let it begin later without one: reprise limit release " + w.limits.held.Handle()
	}
}
