package postgres_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgserver"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// bencher measures what calls of a store cost the server: CPU time of the session that serves them,
// and the time in their statements if the server counts it.
type bencher struct {
	b     *testing.B
	dsn   string
	j     *driver.Journal
	node  journal.NodeID
	admin *pgx.Conn

	perRun float64 // microseconds of the server's CPU, as measured
}

func newBencher(b *testing.B) *bencher {
	dsn := benchDSN(b)
	s, err := postgres.Open(b.Context(), dsn, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	r := &bencher{b: b, dsn: dsn, j: driver.New(s, nil)}
	m, err := r.j.Join(b.Context(), journal.Node{Name: "node", Routes: []journal.Route{flowRoute}, Lease: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	r.node = m.ID()
	r.admin = r.connect(dsn)
	return r
}

func (r *bencher) connect(dsn string) *pgx.Conn {
	r.b.Helper()
	conn, err := pgx.Connect(r.b.Context(), dsn)
	if err != nil {
		r.b.Fatal(err)
	}
	r.b.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// benchDSN is a database of a server that counts statements, or of the shared one if that cannot be
// had. Without fsync: what counts here is the server's work, not the disk's.
func benchDSN(b *testing.B) string {
	server, err := pgserver.Start(b.Context(), &pgserver.Options{NoFsync: true, Settings: map[string]string{
		"shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.track_planning": "on"}})
	if err != nil {
		return pgtest.New(b)
	}
	b.Cleanup(func() { _ = server.Stop() })
	dsn := server.DSN("postgres")
	r := &bencher{b: b}
	if _, err := r.connect(dsn).Exec(b.Context(), "CREATE EXTENSION pg_stat_statements"); err != nil {
		b.Fatal(err)
	}
	return dsn
}

// cpu is what the sessions of the store have used.
func (r *bencher) cpu() (sum time.Duration) {
	r.b.Helper()
	rows, _ := r.admin.Query(r.b.Context(), `SELECT pid FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`)
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		r.b.Fatal(err)
	}
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
		if err != nil {
			return 0
		}
		first, _, _ := bytes.Cut(text, []byte{' '})
		n, _ := strconv.ParseInt(string(first), 10, 64)
		sum += time.Duration(n)
	}
	return sum
}

// benchWarm calls go before the measured ones: connections, plans, caches.
const benchWarm = 50

// measure times calls that work on size runs each, until b.N runs were worked on.
func (r *bencher) measure(size int, call func()) {
	r.b.Helper()
	for range benchWarm {
		call()
	}
	_, counts := r.admin.Exec(r.b.Context(), "SELECT pg_stat_statements_reset()")
	before := r.cpu()
	members := 0
	r.b.ResetTimer()
	for members < r.b.N {
		call()
		members += size
	}
	r.b.StopTimer()
	r.perRun = float64((r.cpu() - before).Nanoseconds()) / 1000 / float64(members)
	r.b.ReportMetric(r.perRun, "server-us/run")
	if counts != nil {
		return
	}
	var plan, exec, wal float64
	err := r.admin.QueryRow(r.b.Context(), `SELECT coalesce(sum(total_plan_time), 0) * 1000, coalesce(sum(total_exec_time), 0) * 1000, coalesce(sum(wal_bytes), 0)::float8
		FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND query NOT LIKE '%pg_stat%'`).Scan(&plan, &exec, &wal)
	if err != nil {
		r.b.Fatal(err)
	}
	r.b.ReportMetric(plan/float64(members), "plan-us/run")
	r.b.ReportMetric(exec/float64(members), "exec-us/run")
	r.b.ReportMetric(wal/float64(members), "wal-B/run")
}

func (r *bencher) start(n int, key string) []driver.Commit {
	r.b.Helper()
	starts := make([]journal.Start, n)
	for i := range starts {
		starts[i] = journal.Start{Workflow: "flow", Owner: r.node, Input: journal.Payload{Data: []byte("1")}}
		if key != "" {
			starts[i].Key = key + strconv.Itoa(i)
		}
	}
	out, err := r.j.Start(r.b.Context(), nil, starts)
	if err != nil {
		r.b.Fatal(err)
	}
	list := make([]driver.Commit, n)
	for i := range out {
		if !out[i].Owned {
			r.b.Fatal(out[i])
		}
		list[i] = driver.Commit{Run: out[i].Run, Node: r.node, Fence: journal.FenceAtBirth, Generation: 1,
			Head: journal.Head{Link: journal.OriginOf(out[i].Run, 1, 0, starts[i].Input)}}
	}
	return list
}

func (r *bencher) commit(list []driver.Commit) {
	r.b.Helper()
	out, err := r.j.Commit(r.b.Context(), list)
	if err != nil {
		r.b.Fatal(err)
	}
	for i := range out {
		if out[i].Err != nil {
			r.b.Fatal(out[i].Err)
		}
	}
}

// benchSizes are sizes of batches: of a quiet node, of a busy one, of a loaded one.
var benchSizes = []int{1, 8, 128}

// turn commits the next turn of every run, and leaves list ready for the one after.
func (r *bencher) turn(list []driver.Commit, next driver.Next, events ...journal.Event) {
	r.b.Helper()
	r.turns(list, next, false, events)
}

func (r *bencher) turns(list []driver.Commit, next driver.Next, appendOnly bool, events []journal.Event) {
	for i := range list {
		c := &list[i]
		c.Head = c.NewHead()
		if c.Events != nil && !c.AppendOnly {
			c.Turn++
		}
		c.AppendOnly = appendOnly
		c.Next, c.Events = next, nil
		*c = follow(*c, r.j.Now(), events)
	}
	r.commit(list)
}

// BenchmarkRaw is what everything else is compared with: one row, one prepared statement.
func BenchmarkRaw(b *testing.B) {
	r := newBencher(b)
	conn := r.connect(r.dsn)
	one := func(sql string, args ...any) {
		if _, err := conn.Exec(b.Context(), sql, args...); err != nil {
			b.Fatal(err)
		}
	}
	one(`CREATE TABLE raw (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz, payload bytea)`)
	r.measure(1, func() { one(`INSERT INTO raw (at, payload) VALUES ($1, $2)`, time.Now(), []byte("1")) })
}

// BenchmarkStep commits steps of runs that stay owned.
func BenchmarkStep(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			r := newBencher(b)
			list := r.start(size, "")
			r.turn(list, keep, began("step"))
			r.measure(size, func() { r.turn(list, keep, stepDone(1, "step")) })
		})
	}
}

// BenchmarkAppend commits the same steps as an engine does: they only add events.
func BenchmarkAppend(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			r := newBencher(b)
			list := r.start(size, "")
			r.turn(list, keep, began("step"))
			r.measure(size, func() { r.turns(list, keep, true, []journal.Event{stepDone(1, "step")}) })
		})
	}
}

// BenchmarkStart starts runs without and with keys.
func BenchmarkStart(b *testing.B) {
	for _, key := range []string{"", "key"} {
		for _, size := range benchSizes {
			b.Run(strconv.Itoa(size)+key, func(b *testing.B) {
				r := newBencher(b)
				calls := 0
				r.measure(size, func() {
					name := key
					if name != "" {
						calls++
						name += strconv.Itoa(calls) + "-"
					}
					r.start(size, name)
				})
			})
		}
	}
}

// BenchmarkRun starts runs and closes them with the outcome of their only step.
func BenchmarkRun(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			r := newBencher(b)
			r.measure(size, func() { r.turn(r.start(size, ""), closing, began("step"), stepDone(1, "step"), completed()) })
		})
	}
}
