package journaltest

import (
	"errors"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Pauses that meet what others do at the same moment.

// pauseBesideCommits pauses while the owner keeps, parks and frees, at the same moment. Whichever
// comes first, the owner has heard of the pause or has no run any more: no pause is lost in a
// commit that was on its way.
func pauseBesideCommits(k *kit) {
	const rounds, runs = 8, 6
	node := k.join(leaseLong).ID()
	owners := k.own(node, runs)
	for _, o := range owners {
		o.commit(keep, started())
	}
	nexts := []driver.Next{keep, park, release}
	for round := range rounds {
		commits, states := make([]driver.Commit, runs), make([]journal.TaskState, runs)
		for i, o := range owners {
			commits[i] = o.build(nexts[(i+round)%len(nexts)])
		}
		k.together(2*runs, func(i int) error {
			if i%2 == 0 {
				out, err := k.commits(commits[i/2])
				states[i/2] = out[0].State
				return errors.Join(err, out[0].Err)
			}
			return acts(k, driver.AdminAction{Run: owners[i/2].run, Kind: driver.AdminPause})
		})
		attention := k.claim(node, 0).Attention
		for i, o := range owners {
			o.accept(&commits[i])
			task := k.row(o.run).Task
			switch {
			case commits[i].Next.Kind != driver.NextKeep:
				if task.State != journal.Paused || task.Owner != 0 {
					k.t.Errorf("freed beside a pause: %+v", task)
				}
			case task.State != journal.Pausing:
				k.t.Errorf("kept beside a pause: %+v", task)
			case states[i] != journal.Pausing && !slices.Contains(attention, o.run):
				k.t.Errorf("run %s is pausing, and its owner has not heard of it", o.run)
			}
			k.ok(k.admin(o.run, driver.AdminResume))
		}
		freed := 0
		for i := range commits {
			if commits[i].Next.Kind != driver.NextKeep {
				freed++
			}
		}
		taken := k.take(node, freed)
		for i, o := range owners {
			if commits[i].Next.Kind != driver.NextKeep {
				owners[i], taken = taken[0], taken[1:]
			} else {
				o.commit(keep)
			}
		}
	}
}

// pauseBesideClaims pauses due runs while nodes claim them. A run is paused and free, or it is
// owned and its owner hears of the pause.
func pauseBesideClaims(k *kit) {
	const rounds, runs = 5, 6
	node := k.join(leaseLong).ID()
	for range rounds {
		list := k.begin(runs)
		k.together(runs+2, func(i int) error {
			if i >= runs {
				_, err := k.j.Claim(k.ctx, driver.ClaimRequest{Node: node, Routes: []journal.Route{flowRoute}, Max: runs})
				return err
			}
			return acts(k, driver.AdminAction{Run: list[i], Kind: driver.AdminPause})
		})
		attention := k.claim(node, 0).Attention
		for _, run := range list {
			task := k.row(run).Task
			if free := task.Owner == 0; free != (task.State == journal.Paused) || !free && (task.State != journal.Pausing || !slices.Contains(attention, run)) {
				k.t.Errorf("claimed beside a pause: %+v", task)
			}
		}
		k.nothingDue(node)
		for _, run := range list {
			k.ok(k.admin(run, driver.AdminTerminate))
		}
	}
}

// A commit that answers a pause, and that a resume has overtaken, leaves the run ready, and tells
// the owner so.
func resumeOvertakes(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	o.commit(keep, started())
	k.ok(k.admin(o.run, driver.AdminPause))
	answer := o.hold()
	k.ok(k.admin(o.run, driver.AdminResume))
	k.same("the answer", o.submit(answer).State, journal.Ready)
	stateIs(k, "resumed", o.run, journal.Ready)
	k.same("attention", k.claim(node, 0).Attention, nil)
	o.commit(park)
	stateIs(k, "parked", o.run, journal.Ready)
	bad := o.build(park)
	bad.Hold = true
	if out, err := k.commits(bad); err == nil && !errors.Is(out[0].Err, journal.ErrInvalid) {
		k.t.Errorf("a commit that frees and holds: %v", out[0].Err)
	}
}

// A quarantined run stays out of the way while it is paused, and so does one that earns its last
// strike while it is pausing. A resume forgives them.
func pausedQuarantine(k *kit) {
	run := k.begin(1)[0]
	k.quarantine(run)
	node := k.join(leaseLong)
	k.ok(k.admin(run, driver.AdminPause))
	stateIs(k, "quarantined and paused", run, journal.Paused)
	k.nothingDue(node.ID())
	k.ok(k.admin(run, driver.AdminResume))
	k.take(node.ID(), 1)[0].commit(closed, started(), completed("1"))

	sick := k.begin(1)[0]
	for n := 1; n <= driver.QuarantineStrikes; n++ {
		r := strikeRun(k, node, func(*owner) {
			if n == driver.QuarantineStrikes {
				k.ok(k.admin(sick, driver.AdminPause))
			}
		})
		k.same("reaped", driver.Reaped{Tasks: r.Tasks, Quarantined: r.Quarantined}, driver.Reaped{Tasks: 1})
		k.rush(sick)
	}
	if task := k.row(sick).Task; task.State != journal.Paused || task.Problem == "" || task.Strikes != driver.QuarantineStrikes {
		k.t.Errorf("paused with its last strike: %+v", task)
	}
	k.nothingDue(node.ID())
	k.ok(k.admin(sick, driver.AdminResume))
	k.take(node.ID(), 1)[0].commit(closed, started(), completed("1"))
}
