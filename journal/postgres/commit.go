package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// commitSQL writes the turns of a batch. The numbers in it are those of driver.NextKind: 0 keep, 1
// park, 2 release, 3 block, 4 close; 5 is a turn that only adds events, see commitAppends, and -1
// to -4 are those that keep the task and hold it, see commitHolds. The last answer column is the
// state of the task before the turn. The first answer column is false for a member that was not
// accepted.
//
// Which member is accepted is decided once, in locked, which takes the row locks of all tasks; the
// parts after it only read that verdict. So a member is written as a whole or not at all, and a
// member that lost its run does not disturb the others (J2, J3). The parts cannot disagree with the
// verdict: nobody else can change a locked row, and each run stands in a batch once.
//
// The newest event and the messages are read as of the statement's beginning, which may be before
// the row's lock was had. That is enough. Events that somebody else has added meanwhile came with
// another fence or turn, or took the row away. Those that a late copy of the owner's own append
// adds meanwhile have the numbers of this commit's, and the primary key refuses one of the two.
//
// Locks are taken in the order of run ids, which the caller's input has, so two batches never wait
// for each other in a circle. The tasks are updated through the index of the primary key although
// the same rows were just read: a join with the batch by any other path would be a plan that grows
// with the table.
//
// visible_at is where messages and turns meet. A message that got its number before this statement
// locked the row is counted in inbox_last, so a run that parks without having seen it is visible at
// once (J6); one that comes after waits for the lock and finds the row parked.
const commitSQL = `
WITH altered AS MATERIALIZED (
    -- J5: members that name a message which the inbox does not have, or has otherwise.
    SELECT c.member FROM unnest($16::int[], $17::bigint[], $18::bigint[]) AS c(member, number, digest)
    WHERE c.digest IS DISTINCT FROM (
        SELECT m.digest FROM reprise.inbox m
        WHERE m.run_id = ($1::uuid[])[c.member] AND m.number BETWEEN c.number AND c.number ORDER BY m.number LIMIT 1)
), locked AS MATERIALIZED (
    -- J3: owner, fence, turn and the newest event decide. The row locks are taken in the input's
    -- order, which is the order of run ids, and always by the primary key: the owner would be a bad
    -- way to find a row. What is compared is the newest version of the row, also if its lock had to
    -- be waited for.
    SELECT i.*, t.inbox_last,
           coalesce(t.state, 0) AS state,
           coalesce(t.owner > 0 AND t.owner = i.node AND t.fence = i.fence AND t.turn = i.turn AND t.generation = i.generation
                    AND (i.head_seq IS NULL OR e.link IS NOT DISTINCT FROM i.head_link), false) AND NOT i.ord = ANY (ARRAY(SELECT a.member FROM altered a)) AS ok
    FROM unnest($1::uuid[], $2::int[], $3::bigint[], $4::bigint[], $5::smallint[], $6::timestamptz[], $7::bigint[],
                $8::bytea[], $9::text[], $10::text[], $11::smallint[], $12::int[], $13::int[], $14::int[], $15::bigint[], $19::bigint[])
         WITH ORDINALITY AS i(run_id, node, fence, turn, next, next_at, seen, attempts, waiting, problem, status, last_seq, generation,
                              head_seq, head_link, link, ord)
    LEFT JOIN LATERAL (
        SELECT e.link FROM reprise.events e
        WHERE e.run_id = i.run_id AND e.generation = i.generation AND e.seq >= i.head_seq ORDER BY e.seq DESC LIMIT 1) e ON true
    LEFT JOIN LATERAL (
        SELECT t.owner, t.fence, t.turn, t.generation, t.inbox_last, t.state FROM reprise.tasks t
        WHERE t.run_id = i.run_id FOR UPDATE OF t) t ON true
), verdict AS MATERIALIZED (
    SELECT array_agg(l.ok ORDER BY l.ord) AS ok FROM locked l
), written AS (
    -- J1: the primary key refuses a seq that exists. Events find their member by subscript instead
    -- of a join.
    INSERT INTO reprise.events (run_id, generation, seq, kind, cmd, inbox, at, link, name, attempt, encoding, payload, issued)
    SELECT ($1::uuid[])[e.member], ($13::int[])[e.member], e.seq, e.kind, e.cmd, e.inbox, e.at, e.link, e.name, e.attempt, e.encoding,
           e.payload, e.issued
    FROM unnest($20::int[], $21::int[], $22::smallint[], $23::int[], $24::bigint[], $25::timestamptz[], $26::bigint[], $27::text[],
                $28::int[], $29::text[], $30::bytea[], $31::text[])
         AS e(member, seq, kind, cmd, inbox, at, link, name, attempt, encoding, payload, issued)
    WHERE (SELECT v.ok FROM verdict v)[e.member]
), kept AS (
    UPDATE reprise.tasks t
    SET turn = t.turn + 1, unproven = false, strikes = 0,
        attempts = CASE WHEN l.next = 3 THEN t.attempts ELSE coalesce(l.attempts, '') END, -- a blocked run keeps what it has
        waiting = CASE WHEN l.next = 3 THEN t.waiting ELSE coalesce(l.waiting, '') END, problem = coalesce(l.problem, ''),
        state = CASE -- driver.CommittedState
            WHEN t.state >= 3 THEN CASE WHEN l.next = 0 OR l.next IN (-1, -3) AND t.state = 5 THEN t.state ELSE 3 END -- J11
            WHEN l.next <= -3 THEN 3
            WHEN l.next = 3 THEN 1 ELSE 0 END,
        owner = CASE WHEN l.next <= 0 THEN t.owner ELSE 0 END,
        link = CASE WHEN l.next <= 0 THEN 0 ELSE l.link END,
        visible_at = CASE
            WHEN l.next = 2 THEN now()
            WHEN l.next = 3 THEN coalesce(l.next_at, 'infinity')
            WHEN l.next <= 0 AND (t.state >= 3 OR l.next <= -3) THEN 'infinity' -- the answer tells, and a resume makes it visible
            WHEN t.inbox_last > l.seen THEN now() -- J6
            WHEN l.next = 1 THEN coalesce(l.next_at, 'infinity')
            ELSE 'infinity' END
    FROM locked l WHERE l.ok AND l.next < 4 AND t.run_id = ANY (ARRAY[l.run_id])
), removed AS (
    DELETE FROM reprise.tasks t USING locked l WHERE l.ok AND l.next = 4 AND t.run_id = ANY (ARRAY[l.run_id])
), closed AS (
    -- J7: terminal event, status and the end of the task are one statement.
    UPDATE reprise.runs r
    SET status = l.status, closed_at = clock_timestamp(), closed_seq = l.last_seq
    FROM locked l WHERE l.ok AND l.next = 4 AND r.id = ANY (ARRAY[l.run_id])
)
SELECT l.ord, l.ok, coalesce(l.inbox_last, 0), clock_timestamp(), l.state::bigint FROM locked l`

// commitReadSQL reads what became of refused commits, for driver.Commit.WrittenAs (J4): the event
// that has the number of the commit's last one, and the task. It locks nothing: an event that is
// stored stays as it is, and a task that has gone on from this commit does not come back.
const commitReadSQL = `
SELECT i.ord, coalesce(e.link, 0), coalesce(t.owner, 0), coalesce(t.fence, 0), coalesce(t.turn, 0), coalesce(t.inbox_last, 0), clock_timestamp(),
       coalesce(t.state, 0), coalesce(t.generation, 0)
FROM unnest($1::uuid[], $2::int[], $3::int[]) WITH ORDINALITY AS i(id, generation, seq, ord)
LEFT JOIN LATERAL (
    SELECT e.link FROM reprise.events e
    WHERE e.run_id = i.id AND e.generation = i.generation AND e.seq BETWEEN i.seq AND i.seq ORDER BY e.seq LIMIT 1) e ON true
LEFT JOIN LATERAL (
    SELECT t.owner, t.fence, t.turn, t.inbox_last, t.state, t.generation FROM reprise.tasks t WHERE t.run_id = ANY (ARRAY[i.id])) t ON true`

// Commit implements driver.Store. The members are sent in the order of run ids, whatever the
// caller's order, so that all batches take their locks in one order; outcomes go back to the
// caller's places. A batch whose payloads would not fit into a protocol message is several
// statements, each a transaction of its own: J2 is about members, not about batches.
func (s *Store) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	defer s.marks.parked(commits)
	if len(commits) == 1 && commits[0].Tx != nil {
		out, err := s.commitInTx(ctx, &commits[0])
		return []driver.Outcome{out}, err
	}
	ctx, end := s.singles.enter(ctx, len(commits))
	defer end()
	order := make([]int, len(commits))
	for i := range order {
		if order[i] = i; commits[i].Tx != nil {
			return nil, fmt.Errorf("commit %s: a member with a transaction must be alone: %w", commits[i].Run, journal.ErrInvalid)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(commits[a].Run[:], commits[b].Run[:]) })
	out := make([]driver.Outcome, len(commits))
	size := func(k int) int { return driver.CommitBytes(&commits[order[k]]) }
	err := inChunks(len(order), size, func(from, to int) error {
		return s.commitChunk(ctx, commits, order[from:to], out)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// commitChunk writes a batch, or its members one by one if the server finds fault with one (J2).
// The server does not say which member it means, and a batch that fails is rolled back as a whole,
// so trying each alone is both the search and the cure. It costs as many round trips as there are
// members, once in the life of a broken member: its owner does not submit it again.
func (s *Store) commitChunk(ctx context.Context, commits []driver.Commit, order []int, out []driver.Outcome) error {
	var err error
	if anyEffects(commits, order) {
		err = s.transaction(ctx, func(ctx context.Context, c *pgx.Conn) error {
			e := effects{s: s, commits: commits, order: order, out: out, ownTx: true}
			return e.run(ctx, c)
		})
	} else {
		err = s.call(ctx, func(ctx context.Context, c *pgx.Conn) error { return newWriting(s, c, commits, out).run(ctx, order) })
	}
	switch {
	case err == nil:
		return s.commitReadBack(ctx, commits, order, out)
	case lockTimeout(err) && hasty(ctx, len(order)):
		return heldCommits(s, commits, order, out).apart(ctx)
	case !memberFault(err):
		return err
	case len(order) > 1:
		for k := range order {
			if err := s.commitChunk(ctx, commits, order[k:k+1], out); err != nil {
				return err
			}
		}
		return nil
	}
	if !duplicateEvent(err) {
		out[order[0]] = driver.Outcome{Err: err}
		return nil
	}
	out[order[0]] = driver.Outcome{Err: journal.ErrFenced}
	return s.commitReadBack(ctx, commits, order, out) // an append may meet its own first try here
}

// heldCommits are the members of a batch that waited in vain for a row.
func heldCommits(s *Store, commits []driver.Commit, order []int, out []driver.Outcome) *batchHeld {
	return &batchHeld{
		n:      len(order),
		run:    func(k int) journal.RunID { return commits[order[k]].Run },
		refuse: func(k int) { out[order[k]] = driver.Outcome{Err: driver.ErrHeld} },
		isHeld: func(k int) bool { return errors.Is(out[order[k]].Err, driver.ErrHeld) },
		locked: func(ctx context.Context, runs []journal.RunID) (lockedRuns, error) { return lockedTasks(ctx, s, runs) },
		write: func(ctx context.Context, members []int) error {
			part := make([]int, len(members))
			for i, k := range members {
				part[i] = order[k]
			}
			return s.commitChunk(ctx, commits, part, out)
		},
	}
}

// memberFault tells errors over the content of a batch from those of the whole call. Only the
// former are worth trying the members alone. The latter leave the call undecided, and the caller
// repeats all of it (J4).
func memberFault(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && aboutData(pe) && !errors.Is(err, journal.ErrUnavailable)
}

// commitReadBack tells own writes of an earlier try from lost ownership (J4). A commit whose answer
// got lost is submitted again as it was, and the second try finds its own events: it is refused
// although it was written. This reads, after the refusal, whether the history holds what the commit
// adds. An unrelated error of the read leaves the outcome open, and the caller asks again by
// submitting once more.
func (s *Store) commitReadBack(ctx context.Context, commits []driver.Commit, order []int, out []driver.Outcome) error {
	var refused []int
	for _, i := range order {
		if out[i].Err != nil {
			refused = append(refused, i)
		}
	}
	if len(refused) == 0 {
		return nil
	}
	return s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		own := false
		err := s.commitRead(ctx, c, commits, refused, func(i int, written bool, o driver.Outcome) {
			if own = own || written; !written {
				o.Err = out[i].Err
			}
			out[i] = o
		})
		if err == nil && own {
			_, err = c.Exec(ctx, durableSQL)
		}
		return err
	})
}

// commitRead runs commitReadSQL for members of a batch and tells of each whether it is written, and
// the outcome if it is.
func (s *Store) commitRead(ctx context.Context, q querier, commits []driver.Commit, members []int,
	found func(i int, written bool, o driver.Outcome)) error {
	ids, generations, seqs := make([]pgtype.UUID, len(members)), make([]int32, len(members)), make([]*int32, len(members))
	for k, i := range members {
		c := &commits[i]
		ids[k], generations[k] = uuidArg(c.Run), int32(c.Generation)
		if n := len(c.Events); n > 0 {
			seqs[k] = nullInt(int32(c.Events[n-1].Seq))
		}
	}
	rows, err := q.Query(ctx, s.sql.commit.read, ids, generations, seqs)
	if err != nil {
		return err
	}
	return each(func(row pgx.CollectableRow) error {
		var ord int64
		var f driver.Found
		var o driver.Outcome
		if err := row.Scan(&ord, &f.Link, &f.Owner, &f.Fence, &f.Turn, &o.InboxLast, &o.Now, &o.State, &f.Generation); err != nil {
			return err
		}
		o.Now = o.Now.UTC()
		i := members[ord-1]
		if !commits[i].TellsState() {
			o.State = journal.Ready
		}
		found(i, commits[i].WrittenAs(f), o)
		return nil
	})(rows)
}
