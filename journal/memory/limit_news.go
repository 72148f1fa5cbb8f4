package memory

import (
	"maps"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// runClaims are what is known of claims of runs beside the claims themselves, which belong to node
// 0.
type runClaims struct {
	last  int64                   // number of the newest
	of    map[journal.RunID]int64 // of runs that hold limits or wait for them
	news  map[int64]bool          // those that a round is to take in
	begun []driver.LimitBegin     // runs that the present round has granted
}

func newRunClaims() runClaims {
	return runClaims{of: map[journal.RunID]int64{}, news: map[int64]bool{}}
}

func (c runClaims) clone() runClaims {
	c.of, c.news, c.begun = maps.Clone(c.of), maps.Clone(c.news), nil
	return c
}

// forget is called when a claim is taken away.
func (c *runClaims) forget(g driver.LimitGrant, run journal.RunID) {
	if g.Node != 0 {
		return
	}
	delete(c.news, g.ID)
	if c.of[run] == g.ID {
		delete(c.of, run)
	}
}
