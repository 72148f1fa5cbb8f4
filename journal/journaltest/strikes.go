package journaltest

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A run that kills its owners is found, and those beside it are not taken for it: see
// driver.StrikesAfter.
var strikeChecks = []check{
	{"Strike_SuspectsAreTriedOneAtATime", suspectsApart},
	{"Strike_NobodyElseIsBlamed", nobodyElse},
	{"Strike_TwoSuspectsAreNotBlamed", twoSuspects},
	{"Strike_SuspectsDoNotHideOthers", suspectsDoNotHide},
}

func claimSuspects(k *kit, node journal.NodeID, suspects int) []driver.Claimed {
	k.t.Helper()
	c, err := k.j.Claim(k.ctx, driver.ClaimRequest{Node: node, Routes: []journal.Route{flowRoute}, Max: 100, Suspects: suspects})
	k.ok(err)
	return c.Tasks
}

// dieWith lets a node die that has claimed what is due, and that many suspects.
func dieWith(k *kit, reaper driver.Membership, suspects int) (owned []journal.RunID) {
	k.t.Helper()
	victim := k.join(leaseTiny)
	for _, c := range claimSuspects(k, victim.ID(), suspects) {
		owned = append(owned, c.Task.Run)
	}
	k.expire(victim.ID())
	_, err := reaper.Reap(k.ctx, nil)
	k.ok(err)
	for _, run := range owned {
		k.rush(run)
	}
	return owned
}

// waitDue waits until a node could claim all of the runs.
func waitDue(k *kit, runs ...journal.RunID) {
	k.t.Helper()
	k.eventually("suspects become due", func() bool {
		for _, run := range runs {
			if t := k.row(run).Task; t.State == journal.Ready && !t.VisibleAt.IsZero() && t.VisibleAt.After(k.j.Now()) {
				return false
			}
		}
		return true
	})
}

func strikesOf(k *kit, run journal.RunID) int { return k.row(run).Task.Strikes }

// Deaths are counted against all who were there until they are suspects. Then each claim takes as
// many suspects as it may, and the death of the owner of one is counted against that one alone.
func suspectsApart(k *kit) {
	reaper := k.join(leaseLong)
	runs := k.begin(3)
	for n := range driver.SuspectStrikes {
		k.same("owned together", len(dieWith(k, reaper, 0)), 3)
		for _, run := range runs {
			k.same("strikes", strikesOf(k, run), n+1)
		}
	}
	waitDue(k, runs...)
	if list := claimSuspects(k, reaper.ID(), 0); len(list) > 0 {
		k.t.Fatalf("a claim without suspects took %d", len(list))
	}
	blamed := dieWith(k, reaper, 1)
	if len(blamed) != 1 {
		k.t.Fatalf("a claim of one suspect took %d tasks", len(blamed))
	}
	for _, run := range runs {
		want := driver.SuspectStrikes
		if run == blamed[0] {
			want++
		}
		k.same("strikes", strikesOf(k, run), want)
	}
}

// suspectAndOthers returns a suspect and two runs that are none.
func suspectAndOthers(k *kit, reaper driver.Membership) (suspect journal.RunID, others []journal.RunID) {
	k.t.Helper()
	suspect = k.begin(1)[0]
	for range driver.SuspectStrikes {
		dieWith(k, reaper, 0)
	}
	return suspect, k.begin(2)
}

// The death of a node with a suspect is the suspect's, up to its quarantine, and says nothing of
// the others on that node.
func nobodyElse(k *kit) {
	reaper := k.join(leaseLong)
	suspect, others := suspectAndOthers(k, reaper)
	for n := driver.SuspectStrikes; n < driver.QuarantineStrikes; n++ {
		waitDue(k, suspect)
		k.same("owned together", len(dieWith(k, reaper, 1)), 3)
		k.same("strikes of the suspect", strikesOf(k, suspect), n+1)
		for _, run := range others {
			k.same("strikes of another", strikesOf(k, run), 0)
		}
	}
	k.same("state", k.row(suspect).Task.State, journal.Quarantined)
	k.same("owned without the suspect", len(dieWith(k, reaper, 1)), 2)
	k.same("strikes of another", strikesOf(k, others[0]), 1)
}

// Of two suspects on one node nothing tells which one it was.
func twoSuspects(k *kit) {
	reaper := k.join(leaseLong)
	runs := k.begin(2)
	for range driver.SuspectStrikes {
		dieWith(k, reaper, 0)
	}
	waitDue(k, runs...)
	k.same("owned together", len(dieWith(k, reaper, 2)), 2)
	for _, run := range runs {
		k.same("strikes", strikesOf(k, run), driver.SuspectStrikes)
	}
}

// However many suspects wait, a claim that leaves them finds what is due behind them.
func suspectsDoNotHide(k *kit) {
	const suspects = 20
	reaper := k.join(leaseLong)
	runs := k.begin(suspects)
	for range driver.SuspectStrikes {
		dieWith(k, reaper, 0)
	}
	waitDue(k, runs...)
	fresh := k.begin(3)
	c, err := k.j.Claim(k.ctx, driver.ClaimRequest{Node: reaper.ID(), Routes: []journal.Route{flowRoute}, Max: 3})
	k.ok(err)
	if len(c.Tasks) != len(fresh) {
		k.t.Errorf("claimed %d tasks behind %d suspects, want %d", len(c.Tasks), suspects, len(fresh))
	}
	k.same("one suspect", len(claimSuspects(k, reaper.ID(), 1)), 1)
	k.same("four suspects", len(claimSuspects(k, reaper.ID(), 4)), 4)
}
