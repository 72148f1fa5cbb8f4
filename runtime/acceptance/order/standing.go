package main

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// standing is how the orders of the day stand in the journal, by their keys. A process that goes on
// where another one ended begins to count there: its predecessor's orders are started, and what has
// ended stays ended.
type standing map[string]journal.Status

// lookUp reads how the orders of some tickets stand.
func lookUp(ctx context.Context, client *runtime.Client, tickets []ticket) (standing, error) {
	ours := map[string]bool{}
	for _, t := range tickets {
		ours[t.key()] = true
	}
	s := standing{}
	filter := journal.ListFilter{Workflow: string(Checkout), Limit: journal.ListMax}
	for {
		page, err := client.List(ctx, filter)
		if err != nil {
			return nil, err
		}
		for _, run := range page.Runs {
			if ours[run.Key] {
				s[run.Key] = run.Status
			}
		}
		if filter.Cursor = page.Next; filter.Cursor == "" {
			return s, nil
		}
	}
}

// closed tells whether an order has ended.
func (s standing) closed(key string) bool { return s[key].Closed() }

// count adds up the orders that were started, that were shipped, and that ended otherwise.
func (s standing) count() (started, shipped, rejected int64) {
	for _, status := range s {
		started++
		switch {
		case status == journal.Completed:
			shipped++
		case status.Closed():
			rejected++
		}
	}
	return started, shipped, rejected
}
