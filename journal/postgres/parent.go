package postgres

import (
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
)

// parentOf reads the columns about the parent of a run that has one.
func parentOf(run pgtype.UUID, generation, cmd *int32, policy *int16) *journal.Parent {
	return &journal.Parent{Run: run.Bytes, Generation: intOf[journal.Generation](generation), Cmd: intOf[journal.Cmd](cmd),
		Policy: intOf[journal.ClosePolicy](policy)}
}

// withParent is a run and its parent.
func withParent(run *journal.Run) []pgtype.UUID {
	ids := []pgtype.UUID{uuidArg(run.ID)}
	if run.Parent != nil {
		ids = append(ids, uuidArg(run.Parent.Run))
	}
	return ids
}
