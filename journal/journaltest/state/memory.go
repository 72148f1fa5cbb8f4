package state

import (
	"github.com/reprise-run/reprise/journal/memory"
)

// OfMemory returns what [Of] must show of a store in memory: less than the store holds.
func OfMemory(snap memory.Snapshot) State {
	var s State
	for i := range snap.Runs {
		from := &snap.Runs[i]
		r := Run{Run: from.Run, Events: from.Events, Inbox: from.Inbox}
		for _, n := range updatesOf(r.Events) {
			if a, ok := from.Answers[n]; ok {
				r.answer(n, &a)
			}
		}
		s.Runs = append(s.Runs, r)
	}
	for _, n := range snap.Nodes {
		if n.ExpiresAt.After(snap.Now) {
			s.Nodes = append(s.Nodes, n)
		}
	}
	return s
}
