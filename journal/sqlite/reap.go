package sqlite

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// reapOwnerSQL finds the next owner. Hopping from one to the next along reprise_tasks_owner_idx
// costs a probe for each owner, however many tasks it has, and starts from the tasks: so it also
// finds those whose owner from birth died, and was forgotten, while the start was waiting for the
// writer.
const reapOwnerSQL = `SELECT t.owner FROM reprise_tasks t WHERE t.owner > +? AND t.owner > 0 ORDER BY t.owner LIMIT 1`

// reapTasksSQL reads a bounded number of an owner's tasks: of suspects, or of the others. Those
// that are freed leave the index, so the next piece begins with the next task.
const reapTasksSQL = `
SELECT t.run_id FROM reprise_tasks t WHERE t.owner = +? AND t.owner > 0 AND (t.strikes >= +?) = +? LIMIT +?`

// reapSuspectsSQL counts the suspects that a node owns, see driver.SuspectStrikes.
const reapSuspectsSQL = `SELECT count(*) FROM reprise_tasks t WHERE t.owner = +? AND t.owner > 0 AND t.strikes >= +?`

// reapStrikesSQL reads what has been counted against a task, and whether it is on hold.
const reapStrikesSQL = `SELECT t.strikes, t.state FROM reprise_tasks t WHERE t.run_id = ?`

// reapFreeSQL makes a task visible, at once or after a wait, or quarantines it. The fence stays:
// the next claim raises it, and until then a late commit of the dead owner finds no owner and is
// refused (J3).
const reapFreeSQL = `
UPDATE reprise_tasks SET owner = 0, unproven = 0, strikes = ?, state = ?, problem = ?, visible_at = ? WHERE run_id = ?`

// reapForgiveSQL takes a strike back from each suspect that waits, but the last that makes it one:
// driver.StrikesForgiven. It reads all tasks, once for a process that has died.
const reapForgiveSQL = `UPDATE reprise_tasks SET strikes = strikes - 1 WHERE owner = 0 AND state < 2 AND strikes > ?`

// reapHoldSQL makes all suspects wait until a time, at least.
const reapHoldSQL = `
UPDATE reprise_tasks SET visible_at = max(visible_at, ?)
WHERE owner = 0 AND state < 2 AND strikes >= ? AND visible_at IS NOT NULL`

// reapWaitSQL tells until when a task waits.
const reapWaitSQL = `SELECT t.visible_at FROM reprise_tasks t WHERE t.run_id = ?`

// reapMembersSQL counts the nodes of the process before that have not left.
const reapMembersSQL = `SELECT count(*) FROM reprise_nodes`

// reapNodesSQL forgets the nodes of the process before.
const reapNodesSQL = `DELETE FROM reprise_nodes`

// Reap implements driver.Membership. All nodes are in this process, so a suspect is dead if its
// lease has run out, and for no other reason.
func (m *member) Reap(ctx context.Context, _ []journal.NodeID) (driver.Reaped, error) {
	r := driver.Reaped{Nodes: m.s.nodes.markExpiredLost()}
	owners, err := m.s.deadOwners(ctx)
	if err != nil {
		return r, err
	}
	for _, owner := range owners {
		suspects := 0
		err := m.s.read(ctx, func(c *conn) (err error) { suspects, err = suspectsOf(c, owner); return err })
		if err != nil {
			return r, err
		}
		n, err := m.s.freeTasks(ctx, owner, striker(owner, suspects))
		r.Tasks += n.freed
		r.Quarantined += n.quarantined
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

// deadOwners lists the lost nodes, and owners that nobody remembers. The latter are read from the
// file first, and the nodes looked at afterwards: a node that joins in between is live by then,
// whatever its tasks.
func (s *Store) deadOwners(ctx context.Context) (list []journal.NodeID, err error) {
	err = s.read(ctx, func(c *conn) (err error) {
		list, err = owners(c)
		return err
	})
	s.nodes.mu.Lock()
	defer s.nodes.mu.Unlock()
	dead := make([]journal.NodeID, 0, len(s.nodes.lost))
	for id := range s.nodes.lost {
		dead = append(dead, id)
	}
	for _, id := range list {
		if s.nodes.live[id] == nil && !s.nodes.lost[id] {
			dead = append(dead, id)
		}
	}
	return dead, err
}

// owners lists the owners of all tasks, live or not, in the order of their ids.
func owners(q querier) (list []journal.NodeID, err error) {
	for last := int64(0); ; {
		n := len(list)
		err := q.query(reapOwnerSQL, func(r row) error { list = append(list, journal.NodeID(r.int(0))); return nil }, last)
		if err != nil || len(list) == n {
			return list, err
		}
		last = int64(list[n])
	}
}

// freed counts tasks that were freed: those that others may claim, and those that are quarantined
// and wait for an operator.
type freed struct{ freed, quarantined int }

// freeFunc frees one task and tells whether it was quarantined.
type freeFunc func(q querier, run journal.RunID, at time.Time) (quarantined bool, err error)

// freeTasks frees the tasks of a node that is no longer live, in pieces, and then forgets it. Each
// piece is a transaction, so that other calls get their turn between two. The node is forgotten
// with the last piece, and in memory after that: if the process dies on the way, the next one frees
// everything, and if a piece fails, the node stays lost and the next reap comes back.
func (s *Store) freeTasks(ctx context.Context, owner journal.NodeID, one freeFunc) (total freed, err error) {
	err = s.write(ctx, 0, func(b *batch) error { // J14
		at := now()
		return driver.FreeLimits(&limitRows{q: b, at: at}, owner, at)
	})
	if err != nil {
		return total, err
	}
	for _, suspects := range []bool{false, true} {
		for more := true; more; {
			var n freed
			err := s.write(ctx, 0, func(b *batch) (err error) {
				n, err = freeSome(b, owner, suspects, one)
				if more = n.freed+n.quarantined == reapBatch; err == nil && !more && suspects {
					_, err = b.exec(nodesForgetSQL, int64(owner))
				}
				return err
			})
			if err != nil {
				return total, err
			}
			total.freed, total.quarantined = total.freed+n.freed, total.quarantined+n.quarantined
		}
	}
	s.nodes.forget(owner)
	return total, nil
}

// freeSome frees one piece. Suspects are freed after all others: while one is owned, the death of
// the owner is not counted against the others, whoever frees them.
func freeSome(q querier, owner journal.NodeID, suspects bool, one freeFunc) (n freed, err error) {
	flag := int64(0)
	if suspects {
		flag = 1
	}
	runs, err := readIDs(q, reapTasksSQL, int64(owner), int64(driver.SuspectStrikes), flag, int64(reapBatch))
	if err != nil {
		return n, err
	}
	at := now()
	for _, run := range runs {
		quarantined, err := one(q, run, at)
		if err != nil {
			return n, err
		}
		if quarantined {
			n.quarantined++
		} else {
			n.freed++
		}
	}
	return n, nil
}

// suspectsOf counts the suspects that a node owns.
func suspectsOf(q querier, owner journal.NodeID) (n int, err error) {
	err = q.query(reapSuspectsSQL, func(r row) error { n = int(r.int(0)); return nil }, int64(owner), int64(driver.SuspectStrikes))
	return n, err
}

// striker returns what frees a task whose owner has died with so many suspects, and tells whether
// it is quarantined for that.
func striker(owner journal.NodeID, suspects int) freeFunc {
	return func(q querier, run journal.RunID, at time.Time) (quarantined bool, err error) {
		strikes, state := 0, journal.Ready
		err = q.query(reapStrikesSQL, func(r row) error { strikes, state = int(r.int(0)), journal.TaskState(r.int(1)); return nil }, uuidArg(run))
		if err != nil {
			return false, err
		}
		strikes = driver.StrikesAfter(strikes, suspects)
		state = driver.StruckState(state, strikes)
		problem, visible := any(nil), any(at.Add(driver.StrikeWait(run, strikes)).UnixMicro())
		if strikes >= driver.QuarantineStrikes {
			visible, quarantined = nil, state == journal.Quarantined
			problem = driver.QuarantineProblem(strikes, owner)
		}
		_, err = q.exec(reapFreeSQL, int64(strikes), int64(state), problem, visible, uuidArg(run))
		return quarantined, err
	}
}

// takeOver frees the tasks of the process before: this one has the lock, so that one is dead, and
// all of its nodes with it. They have died of the same thing, so their suspects are counted
// together. It runs before anybody else can use the file, in pieces, so that a large file does not
// need one large transaction; if it is interrupted, the next process goes on with what is left.
// Suspects come after all others, and the nodes are forgotten last.
//
// What the death says of suspects that were not owned is in driver.StrikesForgiven: nothing if it
// has a suspect, who is to blame; they wait with it, so that a death that has nothing to do with
// any of them has its time.
func (s *Store) takeOver(ctx context.Context, w *conn) error {
	list, err := owners(w)
	if err != nil {
		return err
	}
	suspects, members := 0, 0
	for _, owner := range list {
		n, err := suspectsOf(w, owner)
		if err != nil {
			return err
		}
		suspects += n
	}
	err = w.query(reapMembersSQL, func(r row) error { members = int(r.int(0)); return nil })
	if err != nil {
		return err
	}
	if suspects == 0 && members > 0 {
		err := transact(w, func() error { _, err := w.exec(reapForgiveSQL, int64(driver.SuspectStrikes)); return err })
		if err != nil {
			return err
		}
	}
	for _, last := range []bool{false, true} {
		for _, owner := range list {
			if err := takeOverFrom(ctx, w, owner, last, suspects); err != nil {
				return err
			}
		}
	}
	return transact(w, func() error {
		for _, sql := range []string{limitsForgetSQL, limitLinesForgetSQL, limitLinesRunsSQL, limitTotalsRunsSQL, limitSetsForgetSQL, limitSetsListSQL, reapNodesSQL} {
			if _, err := w.exec(sql); err != nil {
				return err
			}
		}
		return nil
	})
}

// takeOverFrom frees the tasks of one node of the process before: its suspects, or the others. If
// there was one suspect in all, the others wait as long as it does.
func takeOverFrom(ctx context.Context, w *conn, owner journal.NodeID, suspects bool, count int) error {
	for more := true; more; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := transact(w, func() error {
			var blamed []journal.RunID
			free := striker(owner, count)
			n, err := freeSome(w, owner, suspects, func(q querier, run journal.RunID, at time.Time) (bool, error) {
				blamed = append(blamed, run)
				return free(q, run, at)
			})
			more = n.freed+n.quarantined == reapBatch
			if err != nil || !suspects || count != 1 || n.freed == 0 {
				return err
			}
			return holdSuspects(w, blamed[0])
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// holdSuspects makes all suspects wait as long as one of them.
func holdSuspects(q querier, run journal.RunID) error {
	until := int64(0)
	err := q.query(reapWaitSQL, func(r row) error { until = r.int(0); return nil }, uuidArg(run))
	if err == nil {
		_, err = q.exec(reapHoldSQL, until, int64(driver.SuspectStrikes))
	}
	return err
}
