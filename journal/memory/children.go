package memory

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// closeChildren applies the close policies of a closed run's open children. It returns those that
// were terminated behind those of a list, with their own children.
func (db *database) closeChildren(parent journal.RunID, list []journal.RunID, now time.Time) []journal.RunID {
	// Policies change the map: a terminated child leaves it. The order of ids makes the effects
	// repeatable.
	children := slices.SortedFunc(maps.Values(db.children[parent]), func(a, b *record) int { return bytes.Compare(a.run.ID[:], b.run.ID[:]) })
	for _, r := range children {
		switch r.run.Parent.Policy {
		case journal.CloseCancel:
			// A child that was asked before finds the key taken: the second request is a duplicate.
			db.deliver(journal.OrphanCancel(r.run.ID), now)
		case journal.CloseTerminate:
			// Its own children meet their policies at once, so the whole family is done in this
			// call.
			list = append(list, r.run.ID)
			list = db.terminate(r, journal.ParentClosed, list, now)
		}
	}
	return list
}

// addChild notes an open child. The index is by the parent's id and not in its record: close
// policies hold for children of earlier generations, and a parent may be deleted before its
// children close.
func (db *database) addChild(r *record) {
	if r.run.Parent == nil {
		return
	}
	parent := r.run.Parent.Run
	if db.children[parent] == nil {
		db.children[parent] = map[journal.RunID]*record{}
	}
	db.children[parent][r.run.ID] = r
}

// removeChild forgets a child that closes. A parent without open children has no entry, so a family
// that is gone costs nothing.
func (db *database) removeChild(r *record) {
	if r.run.Parent == nil {
		return
	}
	parent := r.run.Parent.Run
	if delete(db.children[parent], r.run.ID); len(db.children[parent]) == 0 {
		delete(db.children, parent)
	}
}
