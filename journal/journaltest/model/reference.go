package model

import (
	"github.com/reprise-run/reprise/journal"
)

// What programs ask of the reference, so that most of what they do makes sense.

func (m *model) exists(run journal.RunID) bool {
	_, ok := m.memory.Run(run)
	return ok
}

// task returns the task of an open run, or nil.
func (m *model) task(run journal.RunID) *journal.Task {
	r, _ := m.memory.Run(run)
	return r.Run.Task
}

// children returns the open children of a run, which itself may be gone.
func (m *model) children(parent journal.RunID) (list []journal.RunID) {
	for _, r := range m.memory.Snapshot().Runs {
		if p := r.Run.Parent; p != nil && p.Run == parent && r.Run.Task != nil {
			list = append(list, r.Run.ID)
		}
	}
	return list
}

// holder returns the run to which a key leads.
func (m *model) holder(key string) (journal.RunID, bool) {
	for _, r := range m.memory.Snapshot().Runs {
		if r.HoldsKey && r.Run.Key == key {
			return r.Run.ID, true
		}
	}
	return journal.RunID{}, false
}
