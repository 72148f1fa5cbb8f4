package postgres

import (
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

// The columns of commitSQL: first those with a value for each member, those of consumed messages
// among them, then those with one for each event.
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
	commitHeadSeq
	commitHeadLink
	consumedMember
	consumedNumber
	consumedDigest
	commitLink
	commitEvents // the first column of events
)

// commitBatches keeps the buffers of batches. The types are in the order of the constants above.
var commitBatches = sync.Pool{New: func() any {
	return newTurnColumns(
		uuidColumn, int32Column, int64Column, int64Column, int16Column, instantColumn, int64Column, bytesColumn, textColumn, textColumn,
		int16Column, int32Column, int32Column, int32Column, int64Column,
		int32Column, int64Column, int64Column, int64Column)
}}

// commitAppends is the number that commitSQL has for a turn that only adds events and so leaves the
// task as it is; those of other turns are driver.NextKind's.
const commitAppends = 5

// commitHolds and commitInterrupted are the numbers for a turn with driver.Commit.Hold, whose task
// stays owned: the latter for one whose owner has interrupted what it executes. Those of a turn
// that pauses its run by itself are commitPauses less.
const (
	commitHolds       = -1
	commitInterrupted = -2
	commitPauses      = 2
)

// nextArg is what the statements call what becomes of the task.
func nextArg(c *driver.Commit) int16 {
	next := int16(c.Next.Kind)
	switch {
	case c.AppendOnly:
		return commitAppends
	case c.Interrupted:
		next = commitInterrupted
	case c.Hold:
		next = commitHolds
	}
	if c.Pause != "" {
		next -= commitPauses
	}
	return next
}

// add appends the columns of a member, its messages and its events. Members and the other two are
// columns of different lengths in one statement: an event names its member by position, from 1,
// which is a subscript in SQL.
func (b commitBatch) add(member int32, c *driver.Commit) error {
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
	l[commitNext].int16(nextArg(c))
	l[commitNextAt].nullTime(c.Next.At)
	l[commitSeen].int64(int64(c.InboxSeen))
	l[commitAttempts].nullBytes(attempts)
	l[commitWaiting].nullText(joinWaiting(c.Waiting, parkedUntil(c)))
	l[commitProblem].nullText(c.Next.Problem)
	l[commitStatus].int16(int16(status))
	l[commitLastSeq].int32(int32(last))
	l[commitGeneration].int32(int32(c.Generation))
	seq, link := comparedHead(c)
	l[commitHeadSeq].optionalInt32(seq)
	l[commitHeadLink].optionalInt64(link)
	l[commitLink].int64(int64(c.NewHead().Link))
	for _, m := range c.Consumed {
		l[consumedMember].int32(member)
		l[consumedNumber].int64(int64(m.Number))
		l[consumedDigest].int64(int64(m.Digest))
	}
	for e := range c.Events {
		addEvent(l[commitEvents:], member, &c.Events[e])
	}
	return nil
}

// comparedHead is the newest event that the statements look for, from its number on. The number is
// nil if nothing is compared: the owner does not know the history, or the primary key compares,
// because the commit's own first event is the first of all. The link is nil if there must be none.
func comparedHead(c *driver.Commit) (seq *int32, link *int64) {
	switch {
	case c.Head.Link == 0 || c.Head.Seq == 0 && len(c.Events) > 0:
		return nil, nil
	case c.Head.Seq == 0:
		return new(int32), nil
	}
	return new(int32(c.Head.Seq)), new(int64(c.Head.Link))
}

func attemptsError(c *driver.Commit, err error) error {
	return fmt.Errorf("commit %s: attempts: %w", c.Run, err)
}
