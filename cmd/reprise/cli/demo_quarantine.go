package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

const (
	demoDeath = 200 * time.Millisecond // the lease of an owner that dies
	demoDies  = 3 * driver.QuarantineStrikes
)

// quarantine gives a run owners that die without a commit, one after the other, until the store
// quarantines it. An owner that only lets its lease run out has died as well as a process that was
// killed. After some deaths the store lets the run wait longer and longer for its next trial; a
// message, which wake sends, brings it at once. No other node may be there that could execute it.
func quarantine(c *call, run journal.RunID, route journal.Route, wake func() error) error {
	routes := []journal.Route{route}
	reaper, err := c.journal.Join(c.ctx, journal.Node{Name: "demo", Lease: time.Minute, Routes: routes})
	if err != nil {
		return err
	}
	defer func() { _ = reaper.Leave(context.WithoutCancel(c.ctx)) }()
	for range demoDies {
		owner, err := c.journal.Join(c.ctx, journal.Node{Name: "demo", Lease: demoDeath, Routes: routes})
		if err != nil {
			return err
		}
		got, err := c.journal.Claim(c.ctx, driver.ClaimRequest{Node: owner.ID(), Routes: routes, Max: 1, Suspects: 1})
		if err == nil && len(got.Tasks) == 0 {
			if err := wake(); err != nil {
				return err
			}
			got, err = c.journal.Claim(c.ctx, driver.ClaimRequest{Node: owner.ID(), Routes: routes, Max: 1, Suspects: 1})
		}
		if err != nil || len(got.Tasks) == 0 { // its lease was over before it had the run
			continue
		}
		if quarantined, err := awaitDeath(c, reaper); err != nil || quarantined {
			return err
		}
	}
	return fmt.Errorf("run %s is not quarantined although %d owners have died: plant the demonstration in another store", run, demoDies)
}

// awaitDeath waits until the store has freed the run of an owner that died, and tells whether it is
// quarantined for that.
func awaitDeath(c *call, reaper driver.Membership) (quarantined bool, err error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		r, err := reaper.Reap(c.ctx, nil)
		if err != nil || r.Tasks+r.Quarantined > 0 {
			return r.Quarantined > 0, err
		}
		select {
		case <-tick.C:
		case <-c.ctx.Done():
			return false, fmt.Errorf("no run is quarantined yet: %w", c.ctx.Err())
		}
	}
}
