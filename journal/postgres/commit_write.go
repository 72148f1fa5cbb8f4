package postgres

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// writing is one try to write a batch of checked commits, by the statements that fit its members.
// order, where a method has one, is the indexes of the members that it is about, by run. A member
// that was not accepted gets ErrFenced, until Store.commitReadBack looks closer.
type writing struct {
	s       *Store
	q       querier
	commits []driver.Commit
	out     []driver.Outcome
}

func newWriting(s *Store, q querier, commits []driver.Commit, out []driver.Outcome) *writing {
	return &writing{s: s, q: q, commits: commits, out: out}
}

// run writes members without effects, in one round trip: first those that are compared with their
// tasks' rows, because locks of tasks come before locks of nodes, then the appends of each node
// under its lock. Appends that do not know of a recall are written after that in the long way, and
// the node is told to compare what it owns.
func (w *writing) run(ctx context.Context, order []int) error {
	full, groups := w.split(order)
	if len(groups) == 0 {
		return w.full(ctx, order)
	}
	x := newExchange(w.q)
	if err := w.bound(ctx, x, len(order)); err != nil {
		return err
	}
	if len(full) > 0 {
		release, err := w.add(ctx, x, full)
		defer release()
		if err != nil {
			return err
		}
	}
	for _, g := range groups {
		defer g.batch.release(&appendBatches)
		if err := w.addAppends(ctx, x, g); err != nil {
			return err
		}
	}
	if err := x.send(ctx); err != nil {
		return err
	}
	for _, g := range groups {
		if !g.refused {
			continue
		}
		g.m.epoch.suspect()
		if err := w.full(ctx, g.order); err != nil {
			return err
		}
	}
	return nil
}

// full writes members each of which is compared with its task's row. A batch of one has the same
// outcome by either statement; which one runs is a matter of cost only.
func (w *writing) full(ctx context.Context, order []int) error {
	if c := &w.commits[order[0]]; len(order) == 1 && fitsOne(c) && !hasty(ctx, 1) {
		o, err := w.one(ctx, c)
		w.out[order[0]] = o
		return err
	}
	x := newExchange(w.q)
	if err := w.bound(ctx, x, len(order)); err != nil {
		return err
	}
	release, err := w.add(ctx, x, order)
	defer release()
	if err != nil {
		return err
	}
	return x.send(ctx)
}

// bound makes an exchange of n members wait a moment only for rows that others have locked, if the
// caller is impatient. A transaction that carries out effects has begun so.
func (w *writing) bound(ctx context.Context, x *exchange, n int) error {
	if !hasty(ctx, n) {
		return nil
	}
	return x.add(ctx, heldWaitSQL, nil, nil, nil)
}

// add adds the statement for members that are compared with their tasks' rows to an exchange. The
// caller calls release when the exchange was sent, also after an error.
func (w *writing) add(ctx context.Context, x *exchange, order []int) (release func(), err error) {
	if w.onlyCloses(order) {
		b := closeBatch{closeBatches.Get().(*columns)}
		return func() { b.release(&closeBatches) }, w.addCloses(ctx, x, b, order)
	}
	b := commitBatch{commitBatches.Get().(*columns)}
	return func() { b.release(&commitBatches) }, w.addTurns(ctx, x, b, order)
}

// addTurns adds commitSQL to an exchange; b holds its parameters until the exchange was sent.
func (w *writing) addTurns(ctx context.Context, x *exchange, b commitBatch, order []int) error {
	for k, i := range order {
		if err := b.add(int32(k+1), &w.commits[i]); err != nil {
			return err
		}
	}
	return x.add(ctx, w.s.sql.commit.batch, b.params(), b.formats, func(row [][]byte) error {
		o := driver.Outcome{InboxLast: journal.InboxSeq(readInt64(row[2])), Now: readTime(row[3])}
		i := order[readInt64(row[0])-1]
		if row[1][0] == 0 {
			o.Err = journal.ErrFenced
		} else if c := &w.commits[i]; c.TellsState() {
			o.State = driver.CommittedState(c, journal.TaskState(readInt64(row[4])))
		}
		w.out[i] = o
		return nil
	})
}

// onlyCloses tells whether commitCloseSQL can write a batch.
func (w *writing) onlyCloses(order []int) bool {
	for _, i := range order {
		if c := &w.commits[i]; c.Next.Kind != driver.NextClose || len(c.Consumed) > 0 {
			return false
		}
	}
	return true
}

// addCloses adds commitCloseSQL to an exchange; b holds its parameters until the exchange was sent.
func (w *writing) addCloses(ctx context.Context, x *exchange, b closeBatch, order []int) error {
	for k, i := range order {
		w.out[i] = driver.Outcome{Err: journal.ErrFenced}
		b.add(int32(k+1), &w.commits[i])
	}
	return x.add(ctx, w.s.sql.commit.closes, b.params(), b.formats, func(row [][]byte) error {
		w.out[order[readInt64(row[0])-1]] = driver.Outcome{Now: readTime(row[1])}
		return nil
	})
}

// appends is the members of one node that are written by one appendSQL.
type appends struct {
	m       *member
	order   []int
	batch   appendBatch
	known   int64 // the recall number that was sent
	refused bool  // whether the store has another one, so that nothing was written
}

// split separates what is compared in full from the appends of each node. Nodes are in the order of
// their ids, as their locks are taken, and members stay in the order of runs.
func (w *writing) split(order []int) (full []int, groups []*appends) {
	for _, i := range order {
		m := w.appender(&w.commits[i])
		if m == nil {
			full = append(full, i)
			continue
		}
		at := slices.IndexFunc(groups, func(g *appends) bool { return g.m == m })
		if at < 0 {
			at = len(groups)
			groups = append(groups, &appends{m: m, known: m.epoch.known(), batch: appendBatch{appendBatches.Get().(*columns)}})
		}
		groups[at].order = append(groups[at].order, i)
	}
	slices.SortFunc(groups, func(a, b *appends) int { return int(a.m.id) - int(b.m.id) })
	return full, groups
}

// appender returns the node by which a commit may be appended, nil if it has to be compared in
// full: it changes the task, or its node has not joined through this store. The first events of a
// generation have no event before them to compare with, so they go the long way too.
func (w *writing) appender(c *driver.Commit) *member {
	if !c.AppendOnly || c.Head.Seq == 0 {
		return nil
	}
	return w.s.roster.member(c.Node)
}

// addAppends adds the lock of a node and its appends to an exchange.
func (w *writing) addAppends(ctx context.Context, x *exchange, g *appends) error {
	node := binary.BigEndian.AppendUint32(nil, uint32(g.m.id))
	class := binary.BigEndian.AppendUint32(nil, uint32(w.s.exclude.class))
	if err := x.add(ctx, appendShareSQL, [][]byte{class, node}, binaryForm, nil); err != nil {
		return err
	}
	if len(g.order) == 1 && len(w.commits[g.order[0]].Events) == 1 {
		return w.addOne(ctx, x, g)
	}
	for k, i := range g.order {
		g.batch.add(int32(k+1), &w.commits[i])
	}
	known := binary.BigEndian.AppendUint64(nil, uint64(g.known))
	params := append([][]byte{node, g.m.incarnation[:], known}, g.batch.params()...)
	return x.add(ctx, w.s.sql.append, params, binaryForm, func(row [][]byte) error {
		g.answer(row, w.out)
		return nil
	})
}

// answer reads the row of appendSQL. An array of booleans is, after its head, a byte behind a
// length of four for each.
func (g *appends) answer(row [][]byte, out []driver.Outcome) {
	g.decide(row, out, func(k int) bool { return row[1][columnHead+5*k+4] != 0 })
}

// answerOne reads the row of appendOneSQL.
func (g *appends) answerOne(row [][]byte, out []driver.Outcome) {
	g.decide(row, out, func(int) bool { return row[1][0] != 0 })
}

// decide turns verdicts into outcomes. InboxLast is not known: the row of the task was not read.
func (g *appends) decide(row [][]byte, out []driver.Outcome, written func(k int) bool) {
	o := driver.Outcome{Now: readTime(row[2])}
	if row[0] == nil {
		o.Err = g.m.lost()
	} else if readInt64(row[0]) != g.known {
		g.refused = true
		return
	}
	for k, i := range g.order {
		if out[i] = o; o.Err == nil && !written(k) {
			out[i].Err = journal.ErrFenced
		}
	}
}
