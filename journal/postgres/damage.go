package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/migrations"
)

// A page or a value that is damaged fails every statement that reads it, and what else the
// statement would have read or written with it. Nothing tells beforehand which rows these are, and
// a statement that looked after each row would cost everybody. So statements are as if nothing was
// ever damaged, and only a call that has met damage is made another way: first for what is narrow,
// which names the runs, then for their rows, by halves (driver.ApartFromDamage).
//
// Narrow columns are those that a row holds itself. Values that are stored outside of their rows
// are read only where they are sent, so a row whose input is lost can still be read without it. A
// page of a table is lost with all of its rows, and nothing is found by them any more.
const (
	narrowTask = `t.generation, t.queue, t.workflow, t.version, t.priority, t.visible_at, t.owner, t.fence, t.turn, t.inbox_last,
       NULL::text, t.strikes, t.state, t.problem, t.link, NULL::bytea`
	narrowRun = `r.id, r.created_at, r.start_at, r.closed_at, r.generation, r.version, r.priority, r.status, r.workflow, r.queue, r.key,
       NULL::text, NULL::text, NULL::text,
       r.parent_run, r.parent_generation, r.parent_cmd, r.parent_policy, r.inbox_seen, NULL::bigint[],
       r.timeout, r.on_failure, NULL::text, NULL::text, NULL::timestamptz[], NULL::text, NULL::bytea, NULL::text, NULL::text`
)

// narrowSQL reads what is narrow of a run and its task.
const narrowSQL = `
SELECT ` + narrowTask + `, ` + narrowRun + `
FROM reprise.runs r LEFT JOIN reprise.tasks t ON t.run_id = r.id WHERE r.id = $1::uuid`

// columnProbe reads one column of a run, on the server alone: what is added to the value makes the
// server read all of it.
type columnProbe struct{ column, sql string }

// columnProbes are those of columns that a server may store outside of their rows, the likeliest
// first.
var columnProbes = []columnProbe{
	{"input", `SELECT octet_length(r.input || '') FROM reprise.runs r WHERE r.id = $1::uuid`},
	{"published", `SELECT octet_length(r.published || '') FROM reprise.runs r WHERE r.id = $1::uuid`},
	{"headers", `SELECT octet_length(r.headers || '') FROM reprise.runs r WHERE r.id = $1::uuid`},
	{"attempts", `SELECT octet_length(t.attempts || '') FROM reprise.tasks t WHERE t.run_id = $1::uuid`},
	{"waiting", `SELECT octet_length(t.waiting || '') FROM reprise.tasks t WHERE t.run_id = $1::uuid`},
	{"labels", `SELECT octet_length(r.labels::text || '') FROM reprise.runs r WHERE r.id = $1::uuid`},
	{"start_labels", `SELECT octet_length(r.start_labels::text || '') FROM reprise.runs r WHERE r.id = $1::uuid`},
	{"rewound", `SELECT octet_length(r.rewound || '') FROM reprise.runs r WHERE r.id = $1::uuid`},
	{"limits", `SELECT octet_length(r.limits || '') FROM reprise.runs r WHERE r.id = $1::uuid`},
}

// salvage makes calls of a store that have met damage. It has of the store what it needs for that.
type salvage struct {
	call func(ctx context.Context, fn func(ctx context.Context, c *pgx.Conn) error) error
	sql  *statements
	o    *Options
	told *damageLog
}

// damagedPart says which part of a run's rows cannot be read, as far as that shows.
func (s salvage) damagedPart(ctx context.Context, run journal.RunID) string {
	for _, probe := range columnProbes {
		err := s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
			_, err := c.Exec(ctx, migrations.Render(probe.sql, s.o.Schema), uuidArg(run))
			return err
		})
		if driver.IsDamaged(err) {
			if _, err = s.narrow(ctx, run); err == nil {
				return "column " + probe.column
			}
			break
		}
	}
	return "row"
}

// narrow reads what is narrow of a run and its task.
func (s salvage) narrow(ctx context.Context, id journal.RunID) (run journal.Run, err error) {
	err = s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		rows, err := c.Query(ctx, migrations.Render(narrowSQL, s.o.Schema), uuidArg(id))
		if err != nil {
			return err
		}
		return each(func(row pgx.CollectableRow) error {
			var t taskRow
			var r runRow
			if err := row.Scan(append(t.targets(), r.targets()...)...); err != nil {
				return err
			}
			run = r.run()
			t.addTo(&run)
			return nil
		})(rows)
	})
	return run, err
}

// loader loads what is not damaged.
type loader func(ctx context.Context, requests []driver.LoadRequest) ([]driver.History, error)

// load is Load for a run of which something is damaged: its row, its events and its messages
// one after the other, each as far as it can be read.
func (s salvage) load(ctx context.Context, q *driver.LoadRequest, why error, load loader) ([]driver.History, error) {
	h := driver.History{Run: journal.Run{ID: q.Run}}
	row := *q
	row.InboxOnly, row.EventsOnly = true, true
	switch got, err := load(ctx, []driver.LoadRequest{row}); {
	case driver.IsDamaged(err):
		narrow, without := s.narrow(ctx, q.Run)
		if without != nil || narrow.ID.IsZero() {
			return nil, why
		}
		h.Run = narrow
		h.Err = driver.DamagedPart(&h.Run, s.damagedPart(ctx, q.Run), err)
	case err != nil || got[0].Err != nil:
		return got, err
	default:
		h = got[0]
	}
	if q.EventsMax() > 0 {
		if err := eventsBefore(ctx, q, &h, load); err != nil {
			return nil, err
		}
	}
	if q.NoInbox() || h.More || h.Err != nil {
		return []driver.History{h}, nil
	}
	inbox := *q
	inbox.Owned, inbox.InboxOnly = true, true
	got, err := load(ctx, []driver.LoadRequest{inbox})
	switch {
	case driver.IsDamaged(err):
		h.Err = &journal.UnreadableError{Run: q.Run, Part: "inbox", Err: err}
	case err != nil:
		return nil, err
	default:
		h.Inbox, h.MoreInbox = got[0].Inbox, got[0].MoreInbox
	}
	return []driver.History{h}, nil
}

// eventsBefore reads the events of a page up to the first that cannot be read. Pages with more and
// more events find it: those behind the end of a page are looked at and their values left alone.
func eventsBefore(ctx context.Context, q *driver.LoadRequest, h *driver.History, load loader) error {
	page := *q
	page.Owned, page.Apart, page.EventsOnly = true, 0, true
	ask := func(limit int) (got driver.History, err error) {
		page.Limit = limit
		list, err := load(ctx, []driver.LoadRequest{page})
		if err == nil {
			got = list[0]
		}
		return got, err
	}
	good, bad := 0, q.EventsMax()
	last, why := ask(bad)
	if why == nil {
		h.Events, h.More = last.Events, last.More
		if last.Err != nil {
			h.Err = last.Err
		}
		return nil
	}
	for driver.IsDamaged(why) && bad-good > 1 {
		middle := (good + bad) / 2
		switch got, err := ask(middle); {
		case err == nil:
			good, last = middle, got
		case driver.IsDamaged(err):
			bad, why = middle, err
		default:
			return err
		}
	}
	if !driver.IsDamaged(why) {
		return why
	}
	h.Events = last.Events
	if h.Err = last.Err; h.Err == nil {
		h.Err = driver.UnreadableEvent(q.Run, q.AfterSeq+journal.Seq(good+1), why)
	}
	return nil
}

// damageAgain is the time after which the same damage is told of again.
const damageAgain = time.Hour

// damageLog tells of each thing once in a while.
type damageLog struct {
	mu   sync.Mutex
	told map[string]time.Time
}

func (l *damageLog) news(what string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, before := l.told[what]; before && time.Since(at) < damageAgain {
		return false
	}
	if l.told == nil {
		l.told = map[string]time.Time{}
	}
	l.told[what] = time.Now()
	return true
}
