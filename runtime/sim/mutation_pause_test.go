//go:build !race

package sim

import (
	"context"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal/driver"
)

// presumptuous takes every commit for the answer to a pause.
type presumptuous struct{ store }

// Commit implements driver.Store.
func (s presumptuous) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	commits = slices.Clone(commits)
	for i := range commits {
		commits[i].Hold = commits[i].TellsState()
	}
	out, err := s.store.Commit(ctx, commits)
	for i := range out {
		out[i].State = 0
	}
	return out, err
}

// pausedOften pauses every run beside each of its first commits.
func pausedOften(p *plan) {
	p.Faults = nil
	for i := range p.Runs {
		r := &p.Runs[i]
		for n := range 8 {
			r.Sends = append(r.Sends, send{At: r.At, Do: sendPause, Pause: pausePlan{For: time.Second, Nth: n + 1}})
		}
	}
}
