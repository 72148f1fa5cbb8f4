package postgres

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// startBatch is the columns that startSQL unnests, in the order of its parameters from the third
// on. It comes from startBatches and goes back by release, like a commitBatch.
type startBatch struct{ *columns }

// The columns of startSQL.
const (
	startID = iota
	startKey
	startWorkflow
	startVersion
	startQueue
	startPriority
	startLabels
	startInput
	startEncoding
	startTrace
	startDelay
	startParent
	startGeneration
	startCmd
	startPolicy
	startHeaders
	startTimeout
	startOnFailure
	startBeyond
	startLimits // of startLimitedSQL alone
)

// startTypes are the types of the columns, in the order of the constants above.
var startTypes = []uint32{uuidColumn, textColumn, textColumn, int32Column, textColumn, int16Column, textColumn, bytesColumn, textColumn,
	textColumn, int64Column, uuidColumn, int32Column, int32Column, int16Column, textColumn, int64Column, textColumn,
	pgtype.BoolOID, textColumn}

// startBatches keeps the buffers of batches.
var startBatches = sync.Pool{New: func() any { return newColumns(startTypes[:startLimits]...) }}

// add appends the columns of a start.
func (b startBatch) add(st *journal.Start) error {
	labels, err := driver.EncodeLabels(st.Labels)
	if err != nil {
		return err
	}
	headers, err := driver.EncodeHeaders(st.Headers)
	if err != nil {
		return err
	}
	l := b.list
	l[startID].uuid(st.ID)
	l[startKey].nullText(st.Key)
	l[startWorkflow].text(st.Workflow)
	l[startVersion].int32(st.Version)
	l[startQueue].text(st.Queue)
	l[startPriority].int16(st.Priority)
	l[startLabels].nullText(labels)
	l[startInput].nullBytes(st.Input.Data)
	l[startEncoding].nullText(st.Input.Encoding)
	l[startTrace].nullText(st.Trace)
	l[startDelay].nullInt64(st.Delay.Microseconds())
	l[startHeaders].nullText(headers)
	l[startTimeout].nullInt64(st.Timeout.Microseconds())
	l[startOnFailure].nullText(st.OnFailure)
	l[startBeyond].nullBool(st.BeyondBacklog)
	if len(l) > startLimits {
		limits, err := driver.EncodeRunLimits(st.Limits)
		if err != nil {
			return err
		}
		l[startLimits].nullText(limits)
	}
	p := st.Parent
	if p == nil {
		for i := startParent; i <= startPolicy; i++ {
			l[i].null()
		}
		return nil
	}
	l[startParent].uuid(p.Run)
	l[startGeneration].nullInt32(int32(p.Generation))
	l[startCmd].nullInt32(int32(p.Cmd))
	l[startPolicy].nullInt16(int16(p.Policy))
	return nil
}

// ownerOf is the node that is to own a run from birth. A delayed run has none: it would hold a
// place in the node without being able to run.
func ownerOf(st *journal.Start) journal.NodeID {
	if st.Delay > 0 {
		return 0
	}
	return st.Owner
}

// addInsert adds startSQL for members of one owner to an exchange. The caller calls release when
// the exchange was sent, also after an error.
func (r *startRound) addInsert(ctx context.Context, x *exchange, members []int) (release func(), err error) {
	b := startBatch{startBatches.Get().(*columns)}
	release = func() { b.release(&startBatches) }
	index, err := r.addAll(b, members)
	if err != nil {
		return release, err
	}
	owner := ownerOf(&r.starts[members[0]])
	node, incarnation := binary.BigEndian.AppendUint32(nil, uint32(owner)), r.s.roster.incarnation(owner)
	params := append([][]byte{node, incarnation.Bytes[:]}, b.params()...)
	return release, x.add(ctx, r.s.sql.start, params, binaryForm, r.readMade(func(run journal.RunID) int { return index[run] }))
}

// addAll appends the columns of members, and tells which run belongs to which.
func (r *startRound) addAll(b startBatch, members []int) (index map[journal.RunID]int, err error) {
	index = make(map[journal.RunID]int, len(members))
	for _, i := range members {
		st := &r.starts[i]
		if err := b.add(st); err != nil {
			return nil, err
		}
		if _, before := index[st.ID]; !before { // of two members with one id, the first creates
			index[st.ID] = i
		}
	}
	return index, nil
}

// limitedBatches keeps the buffers of batches of starts with limits.
var limitedBatches = sync.Pool{New: func() any { return newColumns(startTypes...) }}

// limited takes the members apart that need limits.
func (r *startRound) limited(members []int) (rest, limited []int) {
	needs := func(i int) bool { return len(r.starts[i].Limits) > 0 }
	if !slices.ContainsFunc(members, needs) {
		return members, nil
	}
	for _, i := range members {
		if needs(i) {
			limited = append(limited, i)
		} else {
			rest = append(rest, i)
		}
	}
	return rest, limited
}

// addLimited adds startLimitedSQL for members to an exchange. The caller calls release as after
// addInsert.
func (r *startRound) addLimited(ctx context.Context, x *exchange, members []int) (release func(), err error) {
	b := startBatch{limitedBatches.Get().(*columns)}
	release = func() { b.release(&limitedBatches) }
	index, err := r.addAll(b, members)
	if err != nil {
		return release, err
	}
	return release, x.add(ctx, r.s.sql.limit.runs.start, b.params(), binaryForm, r.readMade(func(run journal.RunID) int { return index[run] }))
}

// readMade reads a run that was created; member tells which start it belongs to.
func (r *startRound) readMade(member func(journal.RunID) int) func(row [][]byte) error {
	return func(row [][]byte) error {
		run := journal.RunID(row[0])
		r.out[member(run)] = journal.Started{Run: run, Created: true, Owned: row[2][0] != 0, StartAt: readTime(row[1]), Now: readTime(row[3])}
		return nil
	}
}

// reuseBatch is the columns that startReuseSQL unnests, in the order of its parameters.
type reuseBatch struct{ *columns }

func newReuseBatch() reuseBatch {
	return reuseBatch{newColumns(uuidColumn, textColumn, textColumn, pgtype.BoolOID)}
}

// add appends the columns of a start that may replace a closed run.
func (b reuseBatch) add(st *journal.Start) {
	b.list[0].uuid(st.ID)
	b.list[1].text(st.Key)
	b.list[2].text(st.Workflow)
	b.list[3].bool(st.Reuse == journal.ReuseAllowIfFailed)
}
