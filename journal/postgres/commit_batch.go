package postgres

import (
	"context"
	"fmt"
	"sync"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// commitBatch is the columns that commitSQL unnests, in the order of its parameters.
//
// It comes from commitBatches and goes back by release, so a node that is busy fills the same few
// buffers again and again. Between the two it belongs to one call. Nothing of the caller's is kept:
// values are copied into the buffers.
type commitBatch struct{ *columns }

// The columns of commitSQL: first those with a value for each member, then those with one for each
// event.
const (
	commitRun = iota
	commitNode
	commitFence
	commitTurn
	commitNext
	commitNextAt
	commitSeen
	commitAttempts
	commitWaiting
	commitProblem
	commitStatus
	commitLastSeq
	commitGeneration
	eventMember
	eventSeq
	eventKind
	eventCmd
	eventInbox
	eventAt
	eventName
	eventAttempt
	eventEncoding
	eventPayload
	eventIssued
)

// commitBatches keeps the buffers of batches. The types are in the order of the constants above.
var commitBatches = sync.Pool{New: func() any {
	return newColumns(
		uuidColumn, int32Column, int64Column, int64Column, int16Column, instantColumn, int64Column, bytesColumn, textColumn, textColumn,
		int16Column, int32Column, int32Column,
		int32Column, int32Column, int16Column, int32Column, int64Column, instantColumn, textColumn, int32Column, textColumn, bytesColumn,
		textColumn)
}}

// writeMany runs commitSQL for the members that order names. Those that were not accepted get
// ErrFenced, until commitReadBack looks closer.
func (s *Store) writeMany(ctx context.Context, q querier, commits []driver.Commit, order []int, out []driver.Outcome) error {
	b := commitBatch{commitBatches.Get().(*columns)}
	defer b.release()
	for k, i := range order {
		if err := b.add(&commits[i]); err != nil {
			return err
		}
		for e := range commits[i].Events {
			b.addEvent(int32(k+1), &commits[i].Events[e])
		}
	}
	return b.run(ctx, q, s.sql.commit, func(row [][]byte) error {
		o := driver.Outcome{InboxLast: journal.InboxSeq(readInt64(row[2])), Now: readTime(row[3])}
		if row[1][0] == 0 {
			o.Err = journal.ErrFenced
		}
		out[order[readInt64(row[0])-1]] = o
		return nil
	})
}

// release keeps the memory for another batch, unless this one was unusually large: one batch of
// large payloads must not pin its megabytes for the life of the process.
func (b commitBatch) release() {
	if b.bytes() <= batchKeptBytesMax {
		b.reset()
		commitBatches.Put(b.columns)
	}
}

// add appends the columns of a member, and addEvent those of an event of it. Members and events are
// columns of different lengths in one statement: an event names its member by position, from 1,
// which is a subscript in SQL.
func (b commitBatch) add(c *driver.Commit) error {
	attempts, err := driver.EncodeAttempts(c.Attempts)
	if err != nil {
		return attemptsError(c, err)
	}
	var status journal.Status
	var last journal.Seq
	if t := c.Terminal(); t != nil {
		status, _ = journal.StatusOf(t.Kind)
		last = t.Seq
	}
	l := b.list
	l[commitRun].uuid(c.Run)
	l[commitNode].int32(int32(c.Node))
	l[commitFence].int64(int64(c.Fence))
	l[commitTurn].int64(int64(c.Turn))
	l[commitNext].int16(int16(c.Next.Kind))
	l[commitNextAt].nullTime(c.Next.At)
	l[commitSeen].int64(int64(c.InboxSeen))
	l[commitAttempts].nullBytes(attempts)
	l[commitWaiting].nullText(joinWaiting(c.Waiting, parkedUntil(c)))
	l[commitProblem].nullText(c.Next.Problem)
	l[commitStatus].int16(int16(status))
	l[commitLastSeq].int32(int32(last))
	l[commitGeneration].int32(int32(c.Generation))
	return nil
}

func attemptsError(c *driver.Commit, err error) error {
	return fmt.Errorf("commit %s: attempts: %w", c.Run, err)
}

func (b commitBatch) addEvent(member int32, ev *journal.Event) {
	p, l := driver.StoredPayload(ev), b.list
	l[eventMember].int32(member)
	l[eventSeq].int32(int32(ev.Seq))
	l[eventKind].int16(int16(ev.Kind))
	l[eventCmd].nullInt32(int32(ev.Cmd))
	l[eventInbox].nullInt64(int64(ev.Inbox))
	l[eventAt].int64(ev.Time.UnixMicro() - epochMicros)
	l[eventName].nullText(ev.Name)
	l[eventAttempt].nullInt32(ev.Attempt)
	l[eventEncoding].nullText(p.Encoding)
	l[eventPayload].nullBytes(p.Data)
	l[eventIssued].nullText(journal.EncodeIssued(ev.Issued))
}
