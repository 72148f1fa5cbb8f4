package main

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/runtime"
)

var latencyScenario = scenario{
	name: "latency", about: "one run at a time: start to result, and a further step, against a raw commit of one row",
	defaults: options{runs: 2_000},
	run: func(ctx context.Context, b *bench) error {
		return b.inFresh(ctx, func(d *database) error { return b.latency(ctx, d) })
	},
}

const (
	latencyBlock = 20 // runs, then as many raw commits, and so on: other load falls on both
	latencySteps = 10 // steps of the run whose steps are timed; one in each block
)

func (b *bench) latency(ctx context.Context, d *database) error {
	raw, err := d.raw(ctx)
	if err != nil {
		return err
	}
	defer raw.close(ctx)
	return b.withNodes(ctx, d, runtime.NodeOptions{}, func(nodes *fleet) error {
		one := flowLoad(nodes, chainFlow, 1, load{workers: 1})
		many := flowLoad(nodes, timedFlow, latencySteps, load{workers: 1, runs: 1})
		if err := warmUp(ctx, load{workers: 10, each: one.each}); err != nil {
			return err
		}
		if _, err := raw.commits(ctx, latencyBlock); err != nil {
			return err
		}
		m, err := d.measure(ctx)
		if err != nil {
			return err
		}
		var whole, further, commits latencies
		for made := 0; made < b.o.runs || b.o.runs == 0 && time.Since(m.began) < b.o.duration(); made += latencyBlock {
			one.runs = latencyBlock
			got, err := one.run(ctx)
			if err != nil {
				return err
			}
			whole = append(whole, got.latencies...)
			if _, err := many.run(ctx); err != nil {
				return err
			}
			further = append(further, gaps()...)
			took, err := raw.commits(ctx, latencyBlock)
			if err != nil {
				return err
			}
			commits = append(commits, took...)
		}
		if err := m.stop(ctx); err != nil {
			return err
		}
		f := figures{}
		whole.into(f, "one_step_run")
		further.into(f, "further_step")
		if commits != nil {
			commits.into(f, "raw_commit")
			f["one_step_run_in_raw_commits"] = ratio(f["one_step_run_p50_ms"], f["raw_commit_p50_ms"])
			f["further_step_in_raw_commits"] = ratio(f["further_step_p50_ms"], f["raw_commit_p50_ms"])
		}
		c, err := m.counters(ctx, func() error {
			raw.close(ctx)
			return nodes.close()
		}, 0, 0)
		if err != nil {
			return err
		}
		return b.emit(settings{"runs": len(whole)}, f, c)
	})
}

// yardstick writes single rows on a connection of its own. On SQLite, where the writer has the file
// for itself, there is none.
type yardstick struct{ conn *pgx.Conn }

func (d *database) raw(ctx context.Context) (yardstick, error) {
	if d.dir != "" {
		return yardstick{}, nil
	}
	conn, err := d.connect(ctx)
	if err != nil {
		return yardstick{}, err
	}
	y := yardstick{conn}
	_, err = conn.Exec(ctx, `CREATE TABLE raw (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz, payload bytea)`)
	if err != nil {
		y.close(ctx)
	}
	return y, err
}

// close may be called again. The server sees a lost connection as well, so there is no error.
func (y yardstick) close(ctx context.Context) {
	if y.conn != nil {
		_ = y.conn.Close(ctx)
	}
}

// commits times transactions of one row each, the least that any durable step can cost.
func (y yardstick) commits(ctx context.Context, n int) (latencies, error) {
	var l latencies
	for range n {
		if y.conn == nil {
			break
		}
		at := time.Now()
		if _, err := y.conn.Exec(ctx, `INSERT INTO raw (at, payload) VALUES ($1, $2)`, at, []byte("1")); err != nil {
			return nil, err
		}
		l = append(l, time.Since(at))
	}
	return l, nil
}
