package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// BenchmarkMembership is what the server works for the renewals, looks and questions of a cluster.
// One node is real. The others are rows and locks, as many locks as their sessions have. An
// iteration is ten seconds of the node's life at the default lease and grace, in which it owns
// nothing; core-% is what a cluster of such nodes takes of one processor of the server.
func BenchmarkMembership(b *testing.B) {
	const (
		sessions = 17 // of a node: pool, listener and lifeline
		renewals = 4
		looks    = 8
		asks     = 50
	)
	for _, nodes := range []int{2, 50, 200} {
		b.Run(fmt.Sprint(nodes), func(b *testing.B) {
			r := newBencher(b)
			m, err := r.j.Join(b.Context(), journal.Node{Name: "other", Routes: []journal.Route{flowRoute}, Lease: time.Hour, Grace: time.Hour})
			if err != nil {
				b.Fatal(err)
			}
			for _, sql := range []string{
				`INSERT INTO reprise.nodes (name, routes, lease, started_at, expires_at, server, grace, process)
				SELECT 'n', routes, lease, now(), now() + interval '1 hour', server, grace, 1000000 + i
				FROM reprise.nodes, generate_series(3, $1::int) AS i WHERE id = 1`,
				`INSERT INTO reprise.members (node, incarnation) SELECT id, gen_random_uuid() FROM reprise.nodes WHERE id > 2 AND id <= $1::int`,
				`SELECT count(pg_advisory_lock_shared(l.classid::bigint::bit(32)::int, 1000000 + i))
				FROM (SELECT DISTINCT l.classid FROM pg_locks l JOIN reprise.nodes n ON l.objid::bigint = n.process AND l.objsubid = 2) l, generate_series(3, $1::int) AS i`,
				fmt.Sprintf(`SELECT count(pg_advisory_lock_shared(7, i)) FROM generate_series(1, $1::int * %d) AS i`, sessions-1),
			} {
				if _, err := r.admin.Exec(b.Context(), sql, nodes); err != nil {
					b.Fatal(err)
				}
			}
			look := func() {
				if l, err := m.Look(context.Background()); err != nil || len(l.Suspects) > 0 {
					b.Fatal(l, err)
				}
			}
			r.measure(1, func() {
				for range renewals {
					if _, err := m.Renew(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
				for range looks {
					look()
				}
				for range asks {
					if seen, err := m.Ask(context.Background(), false); err != nil || seen {
						b.Fatal(seen, err)
					}
				}
			})
			b.ReportMetric(r.perRun*float64(nodes)/10/1e6*100, "core-%")
		})
	}
}
