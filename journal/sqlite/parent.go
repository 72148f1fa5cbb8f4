package sqlite

import (
	"github.com/reprise-run/reprise/journal"
)

// parentOf reads parent_run, parent_generation, parent_cmd and parent_policy; nil for a run without
// a parent.
func parentOf(r row) *journal.Parent {
	if r.null(0) {
		return nil
	}
	return &journal.Parent{Run: r.id(0), Generation: journal.Generation(r.int32(1)), Cmd: journal.Cmd(r.int32(2)), Policy: journal.ClosePolicy(r.int16(3))}
}

// encodeParent returns the columns in the order of parentOf; all are null for a run without a
// parent.
func encodeParent(p *journal.Parent) (columns [4]any) {
	if p != nil {
		columns = [4]any{uuidArg(p.Run), int64(p.Generation), int64(p.Cmd), int64(p.Policy)}
	}
	return columns
}
