package postgres

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// limitRuns is the part of a round that is about runs: which limits it must lock for them, and what
// it takes in behind the locks.
type limitRuns struct {
	keys []driver.LimitKey // of claims and lines that are due
	more bool
	next time.Time
	news []driver.LimitNews
	back []driver.LimitSetLine // sets that were halted, of routes that are not
}

// due looks at what a round should do for runs, and adds the statements to a pipeline that locks
// nothing.
func (r *limitRuns) due(s *Store, p *pipeline) {
	*r = limitRuns{}
	looks := 0
	p.query(s.sql.limit.runs.due, each(func(row pgx.CollectableRow) error {
		var k driver.LimitKey
		var look bool
		err := row.Scan(&k.Name, &k.Key, &look)
		r.keys = append(r.keys, k)
		if look {
			looks++
		}
		r.more = looks == driver.LimitLooksMax
		return err
	}), driver.LimitNewsMax, driver.LimitLooksMax)
	r.queueNext(s, p)
}

// dueBack reads sets that are noted as halted, of those routes that are not, and whose lines are
// worth a look.
func (r *limitRuns) dueBack(ctx context.Context, s *Store, q querier, halted []journal.Route, halts func(r journal.Route) bool) error {
	var back []driver.LimitSetLine
	for _, route := range halted {
		if !halts(route) {
			back = append(back, driver.LimitSetLine{LimitSet: driver.LimitSet{Route: route}})
		}
	}
	if len(back) == 0 {
		return nil
	}
	a := arraysOfSets(back)
	var p pipeline
	p.query(s.sql.limit.sets.haltedOf, each(func(row pgx.CollectableRow) error {
		var l driver.LimitSetLine
		err := row.Scan(&l.Set, &l.Name, &l.Key)
		r.back, r.keys = append(r.back, l), append(r.keys, l.LimitKey)
		r.more = r.more || len(r.back) == driver.LimitLooksMax
		return err
	}), a.queues, a.workflows, a.versions, driver.LimitLooksMax)
	return p.send(ctx, q)
}

// queueNext adds the statement that tells when there will be something to do.
func (r *limitRuns) queueNext(s *Store, p *pipeline) {
	p.query(s.sql.limit.runs.next, each(func(row pgx.CollectableRow) error {
		var since pgtype.Timestamptz
		var look *int64
		err := row.Scan(&since, &look)
		r.next = timeOf(since)
		if look != nil {
			if at := time.UnixMicro(*look).UTC(); r.next.IsZero() || at.Before(r.next) {
				r.next = at
			}
		}
		return err
	}), int64(driver.LookNever))
}

// read adds the statement that reads the claims to be taken in. Those of which a limit is not
// locked are left to the next round, and so are those behind LimitNewsMax.
func (r *limitRuns) read(s *Store, p *pipeline) {
	r.news = nil
	claims := 0
	p.query(s.sql.limit.runs.news, each(func(row pgx.CollectableRow) error {
		claims++
		r.more = r.more || claims == driver.LimitNewsMax
		var n driver.LimitNews
		var granted pgtype.Timestamptz
		var one journal.LimitNeed
		var needs *string
		err := row.Scan(&n.ID, &n.Run, &n.Priority, &n.Since, &granted, &n.Counted, &n.Ended, &n.Paused, &one.Name, &one.Key, &one.Cost, &needs,
			&n.Set, &n.Route.Queue, &n.Route.Workflow, &n.Route.Version)
		if err != nil {
			return err
		}
		n.Since, n.Granted = n.Since.UTC(), timeOf(granted)
		if n.Needs, err = driver.DecodeLimitNeeds(textOf(needs), one); err != nil {
			return err
		}
		if slices.ContainsFunc(n.Needs, func(need journal.LimitNeed) bool {
			return !slices.Contains(r.keys, driver.LimitKey{Name: need.Name, Key: need.Key})
		}) {
			r.more = true
			return nil
		}
		r.news = append(r.news, n)
		return nil
	}), driver.LimitNewsMax)
}

// beginLimited adds the statements that let runs begin.
func beginLimited(s *Store, p *pipeline, begun []driver.LimitBegin) {
	begun = slices.Clone(begun)
	slices.SortFunc(begun, func(a, b driver.LimitBegin) int { return bytes.Compare(a.Run[:], b.Run[:]) }) // as everybody locks them
	runs, claims := make([]pgtype.UUID, len(begun)), make([]int64, len(begun))
	for i, b := range begun {
		runs[i], claims[i] = uuidArg(b.Run), b.ID
	}
	p.exec(s.sql.lockTasks, runs)
	p.exec(s.sql.limit.runs.begin, runs, claims)
}

// queueLimitsEnd adds what ends the limits of runs that close, behind the locks of their tasks.
func queueLimitsEnd(s *Store, p *pipeline, runs []journal.RunID) {
	if len(runs) > 0 {
		p.exec(s.sql.limit.runs.end, runIDs(runs))
	}
}

// queueLimitsMore adds what lets accepted members wait for limits, if there are any.
func (e *effects) queueLimitsMore(p *pipeline) error {
	var runs []journal.RunID
	var texts []string
	for _, i := range e.accepted {
		c := &e.commits[i]
		if len(c.Limits) == 0 {
			continue
		}
		text, err := driver.EncodeRunLimits(c.Limits)
		if err != nil {
			return fmt.Errorf("commit %s: limits: %w", c.Run, err)
		}
		runs, texts = append(runs, c.Run), append(texts, text)
	}
	if len(runs) > 0 {
		queueLimitsEnd(e.s, p, runs)
		p.exec(e.s.sql.limit.runs.more, runIDs(runs), texts)
	}
	return nil
}
