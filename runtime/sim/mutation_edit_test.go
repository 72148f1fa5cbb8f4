//go:build !race

package sim

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal/driver"
)

// wholesale writes the labels of a run as a whole, as its owner knows them.
type wholesale struct{ store }

// Commit implements driver.Store.
func (s wholesale) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	commits = slices.Clone(commits)
	for i := range commits {
		if commits[i].Labels == nil {
			continue
		}
		commits[i].Labels = maps.Clone(commits[i].Labels)
		for n := range 40 {
			commits[i].Labels[fmt.Sprint(labelPrefix, n)] = nil
		}
	}
	return s.store.Commit(ctx, commits)
}

// labelledOften has updates, each of which sets a label, and operators who do.
func labelledOften(p *plan) {
	called(p)
	for i := range p.Runs {
		r := &p.Runs[i]
		for k := range 8 {
			r.Sends = append(r.Sends, send{At: r.Sends[k].At - 100*time.Millisecond, Do: sendLabel})
		}
		slices.SortStableFunc(r.Sends, func(a, b send) int { return cmp.Compare(a.At, b.At) })
	}
}
