package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/filter"
	"github.com/reprise-run/reprise/migrations"
)

// Adopt makes a store speak for a node that has joined through another one, as if both were one
// process.
func (s *Store) Adopt(ctx context.Context, node journal.NodeID) error {
	m := &member{s: s, id: node}
	err := s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, `SELECT incarnation, recalled FROM reprise.members WHERE node = $1`, int32(node)).
			Scan(&m.incarnation, &m.epoch.recalled)
	})
	s.roster.add(m)
	return err
}

// AppendClass is the first key of the locks of appends in the default schema.
var AppendClass = newExclusion(nil, migrations.DefaultSchema).class

// LimitSteps shortens what the engine waits for in transactions of steps.
func (s *Store) LimitSteps(d time.Duration) { s.limits = stepLimits{d, d} }

// Suspect makes a store believe that a request that was sent then has got no answer.
func (s *Store) Suspect(sent time.Time) { s.sessions.silent.since(sent, time.Now()) }

// SuspectNow is Suspect for a request that was sent a moment after every answer so far.
func (s *Store) SuspectNow() { s.sessions.silent.at.Store(time.Now().UnixNano()) }

// OnPool calls fn with a connection of the pool.
func (s *Store) OnPool(ctx context.Context, fn func(ctx context.Context, c *pgx.Conn) error) error {
	return s.call(ctx, fn)
}

// SetSilence sets how long nothing may move on the connection of a call. It must be called before
// the store is used.
func (s *Store) SetSilence(d time.Duration) { s.silence = d }

// OpenEndings is how many transactions of callers are waited for, EndingsAsked whether somebody asks
// about them.
func (s *Store) OpenEndings() int {
	s.hints.endings.mu.Lock()
	defer s.hints.endings.mu.Unlock()
	return len(s.hints.endings.open)
}

func (s *Store) EndingsAsked() bool {
	s.hints.endings.mu.Lock()
	defer s.hints.endings.mu.Unlock()
	return s.hints.endings.runs
}

// AwaitEnding waits for a transaction by its id.
func (s *Store) AwaitEnding(id int64, done func()) { s.hints.endings.add(id, done) }

// FindStatement returns the statement of a listing, and its arguments.
func FindStatement(f *journal.ListFilter, now time.Time) (string, []any, error) {
	if f.Where == "" {
		args, _, err := listArgs(f)
		if f.Status != nil && *f.Status > journal.Completed {
			return listFailedSQL, args, err
		}
		return listSQL, args, err
	}
	q, err := filter.NewQuery(f.Where, f.Cursor, func() (time.Time, error) { return now, nil })
	if err != nil {
		return "", nil, err
	}
	b, _, err := findStatement(f, q)
	if err != nil {
		return "", nil, err
	}
	return b.text.String(), b.args, nil
}

// ListPlan gives a transaction the planner of listings.
const ListPlan = listPlanSQL
