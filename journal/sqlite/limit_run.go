package sqlite

import (
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// limitAskSQL writes a part of the claim of a run, which no round has counted yet. Its rank is what
// most limits make of it, for whoever reads it before.
const limitAskSQL = `
INSERT INTO reprise_limit_claims (node, id, part, name, key, cost, rank, since, run_id, cmd, step, priority, needs, counted, spared)
VALUES (0, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, '', ?9, ?10, 0,
    (SELECT r.generation > 1 OR r.beyond_backlog IS NOT NULL FROM reprise_runs r WHERE r.id = ?8))`

// limitSpareSQL spares a run that waits: nobody goes for it who comes to a full limit.
const limitSpareSQL = `UPDATE reprise_limit_claims SET spared = 1 WHERE node = 0 AND run_id = ? AND granted_at IS NULL AND ended = 0`

// limitPauseSQL takes a run that waits out of its lines, by the next round, or lets it come back.
const limitPauseSQL = `
UPDATE reprise_limit_claims SET paused = ? WHERE node = 0 AND run_id = ? AND granted_at IS NULL AND ended = 0`

// limitPausedSQL takes a run out that has come to wait and is paused.
const limitPausedSQL = `
UPDATE reprise_limit_claims SET paused = 1
WHERE node = 0 AND run_id = ?1 AND granted_at IS NULL AND ended = 0
  AND EXISTS (SELECT 1 FROM reprise_tasks t WHERE t.run_id = ?1 AND t.state = 3)`

// limitAsideSQL stores that a claim is in no line.
const limitAsideSQL = `UPDATE reprise_limit_claims SET counted = 0 WHERE node = 0 AND id = ?`

// limitLastSQL is the number of the newest claim of a run.
const limitLastSQL = `SELECT max(c.id) FROM reprise_limit_claims c WHERE c.node = 0`

// limitOfRunSQL reads what a run needs, and since when.
const limitOfRunSQL = `SELECT r.limits, r.priority, coalesce(r.start_at, r.created_at) FROM reprise_runs r WHERE r.id = ?`

// limitEndSQL ends what a run holds or waits for, in the transaction that closes it.
const limitEndSQL = `UPDATE reprise_limit_claims SET ended = 1 WHERE node = 0 AND run_id = ? AND ended = 0`

// limitAwaitsSQL tells whether a run waits for its limits.
const limitAwaitsSQL = `
SELECT count(*) FROM reprise_limit_claims c WHERE c.node = 0 AND c.run_id = ? AND c.granted_at IS NULL AND c.ended = 0`

// limitNewsSQL reads the claims of runs that a round takes in.
const limitNewsSQL = `
SELECT c.id, c.run_id, c.priority, c.since, c.granted_at, c.counted, c.ended, c.paused, c.name, c.key, c.cost, c.needs, c.set_id,
       r.queue, r.workflow, r.version
FROM reprise_limit_claims c INDEXED BY reprise_limit_claims_news_idx LEFT JOIN reprise_runs r ON r.id = c.run_id
WHERE c.node = 0 AND c.part = 0 AND (c.ended = 1 OR c.counted = c.paused) AND c.since <= ? ORDER BY c.since, c.id LIMIT ?`

// limitLooksSQL finds lines that are worth a look because of runs.
const limitLooksSQL = `
SELECT l.name, l.key FROM reprise_limit_lines l WHERE l.look_at IS NOT NULL AND l.look_at <= ? ORDER BY l.look_at LIMIT ?`

// When there will be something to take in, or to look at.
const (
	limitNextNewsSQL = `
SELECT c.since FROM reprise_limit_claims c INDEXED BY reprise_limit_claims_news_idx
WHERE c.node = 0 AND c.part = 0 AND (c.ended = 1 OR c.counted = c.paused) AND c.since > ? ORDER BY c.since LIMIT 1`
	limitNextLookSQL = `
SELECT l.look_at FROM reprise_limit_lines l WHERE l.look_at IS NOT NULL AND l.look_at > ? AND l.look_at < ? ORDER BY l.look_at LIMIT 1`
)

// limitArriveSQL puts a part of the claim of a run into its line.
const limitArriveSQL = `UPDATE reprise_limit_claims SET counted = 1, rank = ?, granted_at = ?, set_id = ? WHERE node = 0 AND id = ? AND part = ?`

// A task waits for limits, which makes it due for nobody, or has got them. One that is paused
// begins when it is resumed.
const (
	limitWaitSQL  = `UPDATE reprise_tasks SET state = iif(state = 3, 3, -1), visible_at = NULL WHERE run_id = ? AND owner = 0`
	limitBeginSQL = `
UPDATE reprise_tasks SET state = iif(state = -1, 0, state), visible_at = ? WHERE run_id = ? AND owner = 0 AND (state = -1 OR state = 3)`
)

// limitLookSQL makes lines of a limit worth a look in which runs wait: the limit has changed.
const limitLookSQL = `UPDATE reprise_limit_lines SET look_at = 1 WHERE name = ? AND look_at IS NOT NULL`

// awaitLimits lets a free run wait for its limits, from a time on.
func awaitLimits(q querier, run journal.RunID, needs []journal.LimitNeed, priority int16, since, at time.Time) error {
	text, err := driver.EncodeLimitNeeds(needs)
	if err != nil {
		return err
	}
	id := at.UnixMicro() // so that no number comes again soon
	err = q.query(limitLastSQL, func(r row) error { id = max(id, r.int(0)+1); return nil })
	x := execs{q: q, err: err}
	for part, n := range needs {
		rank := since.UnixMicro() + int64(priority)*journal.LimitAgeingDefault.Microseconds()
		x.exec(limitAskSQL, id, int64(part), n.Name, n.Key, n.Cost, rank, since.UnixMicro(), uuidArg(run), int64(priority), nullText(text))
	}
	x.exec(limitWaitSQL, uuidArg(run))
	x.exec(limitPausedSQL, uuidArg(run))
	return x.err
}

// limitMoreSQL changes what a run needs, before it has begun.
const limitMoreSQL = `UPDATE reprise_runs SET limits = ? WHERE id = ?`

// askForMore makes a free run that has not begun wait for limits instead of those that it has. One
// that is paused stays so.
func askForMore(q querier, c *driver.Commit, at time.Time) error {
	text, err := driver.EncodeRunLimits(c.Limits)
	x := execs{q: q, err: err}
	x.exec(limitEndSQL, uuidArg(c.Run))
	x.exec(limitMoreSQL, text, uuidArg(c.Run))
	var priority int16
	since := at
	x.query(limitOfRunSQL, func(r row) error {
		priority = int16(r.int(1))
		if due := r.time(2); due.Before(since) { // else a message has come before its time
			since = due
		}
		return nil
	}, uuidArg(c.Run))
	if x.err != nil {
		return x.err
	}
	return awaitLimits(q, c.Run, c.Limits, priority, since, at)
}

// askAgain lets a run wait for its limits that was closed, or is a fork, from a time on. It returns
// the state of its task.
func askAgain(q querier, run journal.RunID, since, at time.Time) (journal.TaskState, error) {
	var needs []journal.LimitNeed
	var priority int16
	err := q.query(limitOfRunSQL, func(r row) (err error) {
		needs, err = driver.DecodeRunLimits(r.text(0))
		priority = int16(r.int(1))
		return err
	}, uuidArg(run))
	if err != nil || len(needs) == 0 {
		return journal.Ready, err
	}
	return journal.Limited, awaitLimits(q, run, needs, priority, since, at)
}

// limitSinceSQL tells since when a run waits for its limits.
const limitSinceSQL = `
SELECT c.since FROM reprise_limit_claims c WHERE c.node = 0 AND c.run_id = ? AND c.granted_at IS NULL AND c.ended = 0 AND c.part = 0`

// reroute lets a run wait in another set, if it waits, because it has another version. Its place is
// by the same time.
func reroute(q querier, run journal.RunID, at time.Time) error {
	var since time.Time
	x := execs{q: q}
	x.query(limitSinceSQL, func(r row) error { since = r.time(0); return nil }, uuidArg(run))
	if since.IsZero() || x.err != nil {
		return x.err
	}
	if x.exec(limitEndSQL, uuidArg(run)); x.err == nil {
		_, x.err = askAgain(q, run, since, at)
	}
	return x.err
}

// awaitsLimits tells whether a run waits for its limits.
func awaitsLimits(q querier, run journal.RunID) (waits bool, err error) {
	err = q.query(limitAwaitsSQL, func(r row) error { waits = r.int(0) > 0; return nil }, uuidArg(run))
	return waits, err
}

// News implements driver.LimitRows.
func (l *limitRows) News(now time.Time, max int) (list []driver.LimitNews, err error) {
	err = l.q.query(limitNewsSQL, func(r row) (err error) {
		n := driver.LimitNews{Counted: r.bool(5), Ended: r.bool(6), Paused: r.bool(7), Granted: r.time(4)}
		n.ID, n.Run, n.Priority, n.Since, n.Set = r.int(0), r.id(1), int16(r.int(2)), r.time(3), r.int(12)
		n.Route = journal.Route{Queue: r.text(13), Workflow: r.text(14), Version: int32(r.int(15))}
		n.Needs, err = driver.DecodeLimitNeeds(r.text(11), journal.LimitNeed{Name: r.text(8), Key: r.text(9), Cost: r.int(10)})
		list = append(list, n)
		return err
	}, now.UnixMicro(), int64(max))
	return list, err
}

// LooksAt implements driver.LimitRows.
func (l *limitRows) LooksAt(now time.Time, max int) (keys []driver.LimitKey, err error) {
	err = l.q.query(limitLooksSQL, func(r row) error {
		keys = append(keys, driver.LimitKey{Name: r.text(0), Key: r.text(1)})
		return nil
	}, now.UnixMicro(), int64(max))
	return keys, err
}

// NextNews implements driver.LimitRows.
func (l *limitRows) NextNews(now time.Time) (next time.Time, err error) {
	read := func(r row) error {
		if at := r.time(0); next.IsZero() || at.Before(next) {
			next = at
		}
		return nil
	}
	if err = l.q.query(limitNextNewsSQL, read, now.UnixMicro()); err == nil {
		err = l.q.query(limitNextLookSQL, read, now.UnixMicro(), int64(driver.LookNever))
	}
	return next, err
}

// writeRuns writes what a round has decided on runs.
func (l *limitRows) writeRuns(t *driver.LimitTable) error {
	x := execs{q: l.q}
	for _, in := range t.Arrivals() {
		var granted any
		if in.Granted {
			granted = l.at.UnixMicro()
		}
		for part, rank := range in.Ranks {
			x.exec(limitArriveSQL, rank, granted, in.Set, in.ID, int64(part))
		}
	}
	for _, id := range t.Aside() {
		x.exec(limitAsideSQL, id)
	}
	for _, b := range t.Begun() {
		x.exec(limitBeginSQL, l.at.UnixMicro(), uuidArg(b.Run))
	}
	return x.err
}
