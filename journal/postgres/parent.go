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

// parentList is the columns about the parents of runs that are started, for startSQL. All are null
// if none has one, which is nearly always, and then nothing is allocated.
type parentList struct {
	size              int
	runs              []pgtype.UUID
	generations, cmds []*int32
	policies          []*int16
}

func (l *parentList) set(k int, p *journal.Parent) {
	if p == nil {
		return
	}
	if l.runs == nil {
		l.runs, l.policies = make([]pgtype.UUID, l.size), make([]*int16, l.size)
		l.generations, l.cmds = make([]*int32, l.size), make([]*int32, l.size)
	}
	l.runs[k], l.policies[k] = uuidArg(p.Run), nullInt(int16(p.Policy))
	l.generations[k], l.cmds[k] = nullInt(int32(p.Generation)), nullInt(int32(p.Cmd))
}
