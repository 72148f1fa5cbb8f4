package postgres

import "testing"

// A store forgets a node that has left, or it would take itself for one with a node for ever, and
// keep each node that a process has ever been. A later node under the same id, as a store that went
// back gives it out, is another one.
func TestRosterForgetsWhoHasLeft(t *testing.T) {
	var r roster
	first, later := &member{id: 1}, &member{id: 1}
	r.add(first)
	r.add(later)
	r.remove(first)
	if !r.any() || r.member(1) != later {
		t.Error("the later node of an id is gone with the first")
	}
	r.remove(later)
	if r.any() || r.member(1) != nil {
		t.Error("a node that has left is kept")
	}
}
