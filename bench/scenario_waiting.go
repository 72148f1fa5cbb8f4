package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

var waitingScenario = scenario{
	name: "waiting", about: "-queued runs wait behind one full key of a limit, then a tenth as many steps; " +
		"runs that need another key or no limit, in turns with a database in which nobody waits: start to result",
	defaults: options{seconds: 5, concurrency: 8, nodes: 2, queued: 1_000_000},
	by:       bySeconds,
	run: func(ctx context.Context, b *bench) error {
		runs := waitingShape{name: "runs", n: b.o.queued, crowd: crowdRuns, start: func(key string) (limitedCall, *runtime.StartOptions) {
			return limitedCall{}, &runtime.StartOptions{Limits: []journal.LimitNeed{{Name: waitingLimit.Name, Key: key}}}
		}}
		steps := waitingShape{name: "steps", n: max(b.o.queued/10, 1), crowd: crowdSteps, start: func(key string) (limitedCall, *runtime.StartOptions) {
			return limitedCall{Key: key}, nil
		}}
		for _, shape := range []waitingShape{runs, steps} {
			err := b.inFresh(ctx, func(empty *database) error {
				return b.inFresh(ctx, func(full *database) error { return limitsWaiting(ctx, b, empty, full, shape) })
			})
			if err != nil {
				return err
			}
		}
		return nil
	},
}

// waitingShape is who waits, and the runs that are measured beside them.
type waitingShape struct {
	name  string
	n     int // of those who wait
	crowd func(ctx context.Context, b *bench, d *database, nodes *fleet, n int) (figures, error)
	start func(key string) (limitedCall, *runtime.StartOptions)
}

const (
	fullKey = "full"
	// otherKeys are so many that two runs at once rarely have the same.
	otherKeys = 100_000
	// waitingLease is long: nobody dies here, and the crowd must not be told to begin again because
	// the machine is busy.
	waitingLease = time.Minute
	// crowdWidth is how many steps one run of the crowd has.
	crowdWidth = 1_000
	// crowdBegun is how many of the runs that wait are started, at most.
	crowdBegun = 10_000
	// crowdPoll is how often is asked whether all of the crowd wait.
	crowdPoll = 100 * time.Millisecond

	lineFlow workflow.Name[int, int] = "line up" // that number of steps, all at once, behind the full key
)

var waitingLimit = journal.Limit{Name: "bench", Concurrency: 1}

// linedUp counts the steps that have been asked for, of all crowds.
var linedUp atomic.Int64

func lineUp(ctx workflow.Context, n int) (int, error) {
	futures := make([]workflow.Future[int], n)
	for i := range futures {
		futures[i] = workflow.StepAsync(ctx, "hold", func(ctx context.Context) (int, error) {
			<-ctx.Done() // until the scenario ends
			return 0, context.Cause(ctx)
		}, &workflow.StepOptions{Limits: []workflow.StepLimit{{Name: waitingLimit.Name, Key: fullKey}}})
	}
	linedUp.Add(int64(n))
	return futures[0].Get(ctx)
}

// waitingSide is one of the two databases.
type waitingSide struct {
	*database
	nodes  *fleet
	client *member // without a node: what it starts goes through the queue
	server time.Duration
	blocks int64 // that statements have touched
	all    map[string]latencies
}

// limitsWaiting measures three times without a crowd and with one, in turns.
func limitsWaiting(ctx context.Context, b *bench, empty, full *database, shape waitingShape) error {
	return withSide(ctx, b, empty, func(empty *waitingSide) error {
		return withSide(ctx, b, full, func(full *waitingSide) error {
			f, err := shape.crowd(ctx, b, full.database, full.nodes, shape.n)
			if err != nil {
				return err
			}
			for range 3 {
				for _, s := range []*waitingSide{empty, full} {
					if err := besides(ctx, b, s, shape); err != nil {
						return err
					}
				}
			}
			for name, s := range map[string]*waitingSide{"empty": empty, "full": full} {
				runs := 0
				for what, l := range s.all {
					l.into(f, name+"_"+what)
					runs += len(l)
				}
				f[name+"_server_cpu_us"] = s.server.Seconds() * 1e6 / float64(max(runs, 1))
				f[name+"_blocks_a_run"] = float64(s.blocks) / float64(max(runs, 1))
			}
			targets := []target{}
			for what := range full.all {
				f[what+"_to_empty"] = ratio(f["full_"+what+"_p50_ms"], f["empty_"+what+"_p50_ms"])
				targets = append(targets, atMost(what+"_to_empty", 2))
			}
			return b.emit(settings{"waiting": shape.n, "shape": shape.name, "nodes": b.o.nodes, "concurrency": b.o.concurrency}, f, nil, targets...)
		})
	})
}

// withSide runs fn with nodes on a database, and a client.
func withSide(ctx context.Context, b *bench, d *database, fn func(s *waitingSide) error) error {
	nodes, err := d.nodes(ctx, b.o.nodes, runtime.NodeOptions{Drain: time.Millisecond, Lease: waitingLease})
	if err != nil {
		return err
	}
	for _, m := range nodes.members {
		runtime.Handle(m.node, limitedFlow, limitedStep, nil)
		runtime.Handle(m.node, lineFlow, lineUp, nil)
	}
	return nodes.while(ctx, func(nodes *fleet) error {
		if err := runtime.SetLimit(ctx, nodes.client(0), waitingLimit); err != nil {
			return err
		}
		client, err := d.client(ctx)
		if err != nil {
			return err
		}
		defer client.store.Close()
		return fn(&waitingSide{database: d, nodes: nodes, client: client, all: map[string]latencies{}})
	})
}

// blocksTouched is how many blocks the statements of a stretch have touched: what they cost on a
// machine that has other things to do. It is 0 without the server's module that counts them.
func (d *database) blocksTouched(ctx context.Context) (n int64, err error) {
	if !d.rig.statements {
		return 0, nil
	}
	return n, d.rig.admin.QueryRow(ctx, `SELECT coalesce(sum(s.shared_blks_hit + s.shared_blks_read), 0)::bigint
		FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = $1`, d.name).Scan(&n)
}

// besides measures runs that need another key, and runs that need no limit.
func besides(ctx context.Context, b *bench, s *waitingSide, shape waitingShape) error {
	for _, what := range []string{"other_key", "no_limit"} {
		l := load{workers: b.o.concurrency, d: b.o.duration()}
		l.each = func(ctx context.Context, _ int) error {
			in, o := limitedCall{}, (*runtime.StartOptions)(nil)
			if what == "other_key" {
				in, o = shape.start(fmt.Sprint("key ", rand.IntN(otherKeys)))
			}
			run, err := runtime.Start(ctx, s.client.client, limitedFlow, in, o)
			if err == nil {
				_, err = run.Result(ctx)
			}
			return err
		}
		if err := warmUp(ctx, l); err != nil {
			return err
		}
		got, m, err := s.under(ctx, l)
		if err != nil {
			return err
		}
		s.all[what] = append(s.all[what], got.latencies...)
		s.server += m.sum.postgres
		blocks, err := s.blocksTouched(ctx)
		if err != nil {
			return err
		}
		s.blocks += blocks
	}
	return nil
}

// plantSQL makes $1 more runs like those that wait for the full key, as a round leaves them.
const plantSQL = `
WITH like_this AS (
    SELECT r.*, c.rank, c.since FROM reprise.limit_claims c JOIN reprise.runs r ON r.id = c.run_id
    WHERE c.key = $2 AND c.granted_at IS NULL AND c.counted LIMIT 1
), made AS (
    INSERT INTO reprise.runs (id, created_at, version, priority, holds_key, workflow, queue, input, input_encoding, limits)
    SELECT gen_random_uuid(), l.created_at, l.version, l.priority, false, l.workflow, l.queue, l.input, l.input_encoding, l.limits
    FROM like_this l CROSS JOIN generate_series(1, $1::int)
    RETURNING id, version, priority, workflow, queue
), queued AS (
    INSERT INTO reprise.tasks (run_id, visible_at, state, version, priority, queue, workflow)
    SELECT m.id, 'infinity', -1, m.version, m.priority, m.queue, m.workflow FROM made m
), claimed AS (
    INSERT INTO reprise.limit_claims (node, id, part, name, key, cost, rank, since, run_id, cmd, step, priority)
    SELECT 0, nextval('reprise.limit_runs_seq'), 0, $3, $2, 1, l.rank, l.since, m.id, 0, '', m.priority FROM made m CROSS JOIN like_this l
)
UPDATE reprise.limit_lines l SET waiting = l.waiting + $1 WHERE l.name = $3 AND l.key = $2`

// crowdRuns has a run hold the key for ever, and makes n wait behind it. Some are started, and
// measured; the others are planted, which is sooner.
func crowdRuns(ctx context.Context, b *bench, d *database, nodes *fleet, n int) (figures, error) {
	needs := []journal.LimitNeed{{Name: waitingLimit.Name, Key: fullKey}}
	if _, err := runtime.Start(ctx, nodes.client(0), collectFlow, endless, &runtime.StartOptions{Limits: needs}); err != nil {
		return nil, err
	}
	if err := inLine(ctx, b, d, 0); err != nil {
		return nil, err
	}
	begun, began := min((n+1)/2, crowdBegun), time.Now()
	err := b.enqueue(ctx, d, begun, journal.Start{Workflow: string(chainFlow), Input: journal.Payload{Data: []byte("1")}, Limits: needs})
	if err == nil {
		err = inLine(ctx, b, d, begun)
	}
	f := figures{"in_line_per_second": float64(begun) / time.Since(began).Seconds()}
	if err != nil {
		return nil, err
	}
	conn, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	if _, err = conn.Exec(ctx, plantSQL, n-begun, fullKey, waitingLimit.Name); err == nil {
		_, err = conn.Exec(ctx, `VACUUM ANALYZE`) // else the server does so while others are measured
	}
	return f, errors.Join(err, conn.Close(ctx), inLine(ctx, b, d, n))
}

// crowdSteps has runs with n steps, of which one gets the key and keeps it.
func crowdSteps(ctx context.Context, b *bench, d *database, nodes *fleet, n int) (figures, error) {
	before, began := linedUp.Load(), time.Now()
	for left := n; left > 0; left -= crowdWidth {
		if _, err := runtime.Start(ctx, nodes.client(left/crowdWidth), lineFlow, min(left, crowdWidth), nil); err != nil {
			return nil, err
		}
	}
	if err := pollAt(ctx, crowdPoll, func() (bool, error) { return linedUp.Load()-before >= int64(n), nil }); err != nil {
		return nil, err
	}
	return figures{"asked_per_second": float64(n) / time.Since(began).Seconds()}, inLine(ctx, b, d, 0)
}

// inLine waits until the full key is held and n wait for it, as the store says.
func inLine(ctx context.Context, b *bench, d *database, n int) error {
	var held, waiting int
	conn, err := d.connect(ctx)
	if err != nil {
		return err
	}
	err = pollAt(ctx, crowdPoll, func() (bool, error) {
		err := conn.QueryRow(ctx, `SELECT coalesce(sum(held), 0), coalesce(sum(waiting), 0) FROM reprise.limit_lines WHERE key = $1`, fullKey).Scan(&held, &waiting)
		return held > 0 && waiting >= n, err
	})
	return errors.Join(err, conn.Close(ctx))
}
