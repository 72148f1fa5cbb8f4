package driver

import (
	"math"

	"github.com/reprise-run/reprise/journal"
)

// A route is halted while no node may begin a run of it: a scope that covers it is paused, or no
// live node serves it. A run of it would take a place of its limits and keep it from everybody
// until somebody resumes the scope or starts a node, so no round grants it anything.
//
// Runs that wait are in sets by what they need and by their route, so all of a route that need the
// same lines leave these, and come back, by one row for each line, however many they are. A round
// that finds a halted set in the list of a line takes it off the list and notes that it is halted.
// The rounds for runs look for halted sets of routes that are halted no more, put them into their
// lists again, those with the earliest first claim first, and look at these lines. Ranks stay as
// they are, so each run comes back into its place.
//
// The invariant is: a set of which claims wait, and that no list has, is noted as halted in a line,
// or is where the invariant of sets says. Whether a route is halted is known for a moment only. A
// round that knows it from a moment ago grants what it would have granted then, or notes a set as
// halted that the next round for runs finds again.

// LimitHalts tells which routes are halted: those in the scope of a pause, and those that none of
// some live nodes serves. A node that is asked to leave begins nothing more.
func LimitHalts(pauses []journal.Pause, nodes []journal.Node) func(r journal.Route) bool {
	served := map[journal.Route]bool{}
	for i := range nodes {
		for _, r := range nodes[i].Routes {
			served[r] = served[r] || !nodes[i].Draining
		}
	}
	return func(r journal.Route) bool {
		for i := range pauses {
			if pauses[i].Scope.Covers(r) {
				return true
			}
		}
		return !served[r]
	}
}

// SetHalts says which routes are halted, ahead of the lines.
func (t *LimitTable) SetHalts(halts func(r journal.Route) bool) { t.halts = halts }

// isHalted tells whether no node may begin runs of a route. What has no route is no run: its node
// has begun.
func isHalted(t *LimitTable, r journal.Route) bool {
	return r != (journal.Route{}) && t.halts != nil && t.halts(r)
}

// withoutHalted takes the halted sets off the list of a line, and their claims out of its heads.
func withoutHalted(t *LimitTable, k LimitKey, heads LimitHeads) (left LimitHeads) {
	halted := map[int64]bool{}
	for _, s := range heads.Sets {
		if isHalted(t, s.Route) {
			halted[s.Set] = true
			halt(t, k, s)
			continue
		}
		left.Sets = append(left.Sets, s)
	}
	if len(halted) == 0 {
		return heads
	}
	for i := range heads.Claims {
		if !halted[heads.Claims[i].Set] {
			left.Claims = append(left.Claims, heads.Claims[i])
		}
	}
	return left
}

// halt notes that a set is halted in a line.
func halt(t *LimitTable, k LimitKey, s LimitSet) {
	s.First = math.MinInt64
	t.sets.Moves = append(t.sets.Moves, LimitSetLine{LimitKey: k, LimitSet: s, Away: true, Halted: true})
}

// leave notes that a claim which waited has gone from its lines. No round reads its set while it is
// halted, so somebody has to look whether it was the last.
func leave(t *LimitTable, n *LimitNews) {
	if n.Counted && n.Set != 0 && n.Granted.IsZero() && (n.Route == journal.Route{} || isHalted(t, n.Route)) {
		t.sets.Left = append(t.sets.Left, n.Set)
	}
}
