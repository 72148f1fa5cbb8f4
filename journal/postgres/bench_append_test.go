package postgres_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/internal/sqltest"
)

// appendLocks are the ways to prove that a node is a member: a statement before the one that appends,
// and what that one has instead of a plain look at the row of the membership.
var appendLocks = []struct {
	name, before, look string
}{
	{"none", "", ""},
	{"advisory", "SELECT pg_advisory_xact_lock_shared(1, 1)", ""},
	{"share", "", "m.lost_at IS NULL FOR SHARE OF m"},
}

// BenchmarkAppendLocks compares those ways, in batches of 170 out of 1,000 runs and of one, on one
// session and on four. Row locks that overlap make multixacts, which are counted.
func BenchmarkAppendLocks(b *testing.B) {
	text := sqltest.Statements(b, ".")["appendSQL"]
	for _, sessions := range []int{1, 4} {
		for _, size := range []int{1, 170} {
			for _, lock := range appendLocks {
				b.Run(fmt.Sprintf("sessions=%d/batch=%d/%s", sessions, size, lock.name), func(b *testing.B) {
					sql := text
					if lock.look != "" {
						sql = strings.Replace(text, "m.lost_at IS NULL", lock.look, 1)
					}
					benchAppends(b, sessions, size, lock.before, sql)
				})
			}
		}
	}
}

func benchAppends(b *testing.B, sessions, size int, before, sql string) {
	r := newBencher(b)
	const incarnation = "11111111-1111-1111-1111-111111111111"
	if _, err := r.admin.Exec(b.Context(), "UPDATE reprise.members SET incarnation = $1, node = 1", incarnation); err != nil {
		b.Fatal(err)
	}
	multixacts := func() (n int64) {
		if _, err := r.admin.Exec(b.Context(), "CHECKPOINT"); err != nil {
			b.Fatal(err)
		}
		if err := r.admin.QueryRow(b.Context(), "SELECT next_multixact_id::text::bigint FROM pg_control_checkpoint()").Scan(&n); err != nil {
			b.Fatal(err)
		}
		return n
	}
	workers := make([]*appendWorker, sessions)
	for i := range workers {
		workers[i] = newAppendWorker(r, 1_000/sessions, incarnation, before, sql)
	}
	first, calls := multixacts(), 0
	r.measure(size*sessions, func() {
		calls += sessions
		var work sync.WaitGroup
		for _, w := range workers {
			work.Go(func() { w.call(b, size) })
		}
		work.Wait()
	})
	b.ReportMetric(float64(multixacts()-first)/float64(calls), "multixacts/call")
}

// appendWorker appends to runs of its own, one after the other.
type appendWorker struct {
	conn        *pgx.Conn
	runs        []string
	seqs        []int32
	next        int
	incarnation string
	before, sql string
}

func newAppendWorker(r *bencher, runs int, incarnation, before, sql string) *appendWorker {
	w := &appendWorker{conn: r.connect(r.dsn), incarnation: incarnation, before: before, sql: sql, seqs: make([]int32, runs)}
	if _, err := w.conn.Exec(r.b.Context(), "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off"); err != nil {
		r.b.Fatal(err)
	}
	rows, _ := w.conn.Query(r.b.Context(), `INSERT INTO reprise.events (run_id, at, link, generation, seq, kind)
		SELECT gen_random_uuid(), now(), 1, 1, 1, 1 FROM generate_series(1, $1::int) RETURNING run_id::text`, runs)
	var err error
	if w.runs, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		r.b.Fatal(err)
	}
	for i := range w.seqs {
		w.seqs[i] = 1
	}
	return w
}

func (w *appendWorker) call(b *testing.B, size int) {
	var runs, names []string
	var generations, seqs, members, nexts, kinds, cmds, attempts []int32
	var links, newLinks []int64
	var payloads [][]byte
	ats := make([]time.Time, size)
	for i := range size {
		ats[i] = time.Now()
		k := w.next % len(w.runs)
		w.next++
		runs, generations, seqs, links = append(runs, w.runs[k]), append(generations, 1), append(seqs, w.seqs[k]), append(links, int64(w.seqs[k]))
		w.seqs[k]++
		members, nexts, newLinks = append(members, int32(i+1)), append(nexts, w.seqs[k]), append(newLinks, int64(w.seqs[k]))
		kinds, cmds, names, attempts, payloads = append(kinds, 2), append(cmds, 1), append(names, "step"), append(attempts, 1), append(payloads, []byte("1"))
	}
	var batch pgx.Batch
	if w.before != "" {
		batch.Queue(w.before)
	}
	batch.Queue(w.sql, 1, w.incarnation, 0, runs, generations, seqs, links, members, nexts, kinds, cmds, ats, newLinks, names, attempts, nil, payloads, nil).
		QueryRow(func(row pgx.Row) error {
			var recalled int64
			var ok []bool
			err := row.Scan(&recalled, &ok, nil)
			for _, written := range ok {
				if !written {
					b.Error("an append was refused")
				}
			}
			return err
		})
	if err := w.conn.SendBatch(b.Context(), &batch).Close(); err != nil {
		b.Error(err)
	}
}
