package main

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// meter measures a stretch of time, or several that belong together: how long they were, what
// Postgres did and what it cost.
type meter struct {
	d      *database
	began  time.Time // of the stretch that is being measured, or of the last one
	before reading
	sum    reading // of all stretches
	took   time.Duration
	calls  *int64
	top    []statement

	transactionsBefore int64
}

// reading is the state of every counter at one moment, or what was added between two.
type reading struct {
	lsn        int64 // WAL written since the beginning of time
	pageImages int64
	xid        int64 // transactions that wrote
	postgres   time.Duration
	driver     time.Duration
	hidden     bool // the CPU time of Postgres is unknown
}

// readSQL reads what is up to date at once. Only the private server's own work is in these
// counters.
const readSQL = `
SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint, (SELECT wal_fpi FROM pg_stat_wal),
       pg_snapshot_xmax(pg_current_snapshot())::text::bigint`

// readTransactionsSQL counts all transactions. A backend reports them late, and for certain when it
// ends.
const readTransactionsSQL = `SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = $1`

func (d *database) read(ctx context.Context) (reading, error) {
	var r reading
	var seen bool
	r.driver = ownCPU()
	r.postgres, seen = serverCPU(d.rig.postmaster)
	r.hidden = !seen
	if d.dir != "" {
		return r, nil
	}
	err := d.rig.admin.QueryRow(ctx, readSQL).Scan(&r.lsn, &r.pageImages, &r.xid)
	return r, err
}

// add adds what happened between two readings.
func (r *reading) add(before, after reading) {
	r.lsn += after.lsn - before.lsn
	r.pageImages += after.pageImages - before.pageImages
	r.xid += after.xid - before.xid
	r.postgres += after.postgres - before.postgres
	r.driver += after.driver - before.driver
	r.hidden = r.hidden || before.hidden || after.hidden
}

// meter prepares a measurement; resume begins it.
func (d *database) meter(ctx context.Context) (*meter, error) {
	m := &meter{d: d}
	if d.dir != "" {
		return m, nil
	}
	if d.rig.statements {
		_, err := d.rig.admin.Exec(ctx, `SELECT pg_stat_statements_reset(0, oid, 0) FROM pg_database WHERE datname = $1`, d.name)
		if err != nil {
			return nil, err
		}
	}
	return m, d.rig.admin.QueryRow(ctx, readTransactionsSQL, d.name).Scan(&m.transactionsBefore)
}

// measure begins a stretch.
func (d *database) measure(ctx context.Context) (*meter, error) {
	m, err := d.meter(ctx)
	if err != nil {
		return nil, err
	}
	return m, m.resume(ctx)
}

// measured measures fn.
func (d *database) measured(ctx context.Context, fn func() error) (*meter, error) {
	m, err := d.measure(ctx)
	if err != nil {
		return nil, err
	}
	if err := fn(); err != nil {
		return nil, err
	}
	return m, m.stop(ctx)
}

// resume begins a stretch. What happens between two of them is not counted, except transactions
// and statements of this database.
func (m *meter) resume(ctx context.Context) (err error) {
	m.before, err = m.d.read(ctx)
	m.began = time.Now()
	return err
}

// pause ends a stretch.
func (m *meter) pause(ctx context.Context) error {
	m.took += time.Since(m.began)
	after, err := m.d.read(ctx)
	m.sum.add(m.before, after)
	return err
}

// stop ends the last stretch.
func (m *meter) stop(ctx context.Context) error {
	if err := m.pause(ctx); err != nil {
		return err
	}
	return m.readStatements(ctx)
}

func (m *meter) readStatements(ctx context.Context) (err error) {
	if !m.d.rig.statements {
		return nil
	}
	m.calls = new(int64)
	if err := m.d.rig.admin.QueryRow(ctx, statementSumSQL, m.d.name).Scan(m.calls); err != nil {
		return err
	}
	rows, _ := m.d.rig.admin.Query(ctx, statementsSQL, m.d.name, m.d.rig.o.statements)
	m.top, err = pgx.CollectRows(rows, pgx.RowToStructByPos[statement])
	return err
}

// counters are what Postgres and the system say about a stretch.
type counters struct {
	Seconds   float64 `json:"seconds"`
	DriverCPU float64 `json:"driver_cpu_seconds"`
	*ServerCounters
	PerRun  *perUnit `json:"per_run,omitempty"`
	PerStep *perUnit `json:"per_step,omitempty"`
}

// ServerCounters are those that Postgres has; on SQLite nobody counts. It is exported so that it
// can be read back.
type ServerCounters struct {
	Transactions      int64       `json:"transactions"`
	WriteTransactions int64       `json:"write_transactions"`
	Statements        *int64      `json:"statements,omitempty"`
	WALBytes          int64       `json:"wal_bytes"`
	WALPageImages     int64       `json:"wal_page_images"`
	PostgresCPU       *float64    `json:"postgres_cpu_seconds,omitempty"`
	Top               []statement `json:"top_statements,omitempty"`
}

// perUnit is counters divided by runs or steps.
type perUnit struct {
	DriverCPU float64 `json:"driver_cpu_us"`
	*ServerPerUnit
}

// ServerPerUnit is ServerCounters divided.
type ServerPerUnit struct {
	Transactions      float64  `json:"transactions"`
	WriteTransactions float64  `json:"write_transactions"`
	Statements        *float64 `json:"statements,omitempty"`
	WALBytes          float64  `json:"wal_bytes"`
	PostgresCPU       *float64 `json:"postgres_cpu_us,omitempty"`
}

// statement is one of the costliest.
type statement struct {
	Text         string  `json:"text"`
	Calls        int64   `json:"calls"`
	Rows         int64   `json:"rows"`
	Milliseconds float64 `json:"ms"`
	WALBytes     int64   `json:"wal_bytes"`
}

const statementsSQL = `
SELECT left(regexp_replace(s.query, '\s+', ' ', 'g'), 100), s.calls, s.rows, s.total_exec_time + s.total_plan_time, s.wal_bytes::bigint
FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = $1
ORDER BY s.total_exec_time + s.total_plan_time DESC LIMIT $2`

const statementSumSQL = `
SELECT coalesce(sum(s.calls), 0)::bigint FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = $1`

// counters sums up a stretch that was stopped. closing ends all connections to the database, so
// that Postgres has counted every transaction. runs and steps may be 0.
func (m *meter) counters(ctx context.Context, closing func() error, runs, steps int) (*counters, error) {
	c := &counters{Seconds: m.took.Seconds(), DriverCPU: m.sum.driver.Seconds()}
	if m.d.dir == "" {
		c.ServerCounters = &ServerCounters{
			Statements: m.calls, Top: m.top, WriteTransactions: m.sum.xid, WALBytes: m.sum.lsn, WALPageImages: m.sum.pageImages,
		}
		if !m.sum.hidden {
			c.PostgresCPU = new(m.sum.postgres.Seconds())
		}
	}
	if err := closing(); err != nil {
		return nil, err
	}
	if c.ServerCounters != nil {
		if err := m.transactions(ctx, c); err != nil {
			return nil, err
		}
	}
	c.PerRun, c.PerStep = c.per(runs), c.per(steps)
	return c, nil
}

const othersSQL = `SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'`

// transactions waits for the backends to end, which makes them report.
func (m *meter) transactions(ctx context.Context, c *counters) error {
	err := poll(ctx, func() (bool, error) {
		var n int
		err := m.d.rig.admin.QueryRow(ctx, othersSQL, m.d.name).Scan(&n)
		return n == 0, err
	})
	if err != nil {
		return err
	}
	var after int64
	if err := m.d.rig.admin.QueryRow(ctx, readTransactionsSQL, m.d.name).Scan(&after); err != nil {
		return err
	}
	c.Transactions = after - m.transactionsBefore
	return nil
}

func (c *counters) per(n int) *perUnit {
	if n == 0 {
		return nil
	}
	by := float64(n)
	p := &perUnit{DriverCPU: c.DriverCPU * 1e6 / by}
	if c.ServerCounters == nil {
		return p
	}
	p.ServerPerUnit = &ServerPerUnit{
		Transactions: float64(c.Transactions) / by, WriteTransactions: float64(c.WriteTransactions) / by, WALBytes: float64(c.WALBytes) / by,
	}
	if c.Statements != nil {
		p.Statements = new(float64(*c.Statements) / by)
	}
	if c.PostgresCPU != nil {
		p.PostgresCPU = new(*c.PostgresCPU * 1e6 / by)
	}
	return p
}
