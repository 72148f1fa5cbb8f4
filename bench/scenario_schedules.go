package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/schedule"
	"github.com/reprise-run/reprise/runtime/schedule/calendar"
)

var schedulesScenario = scenario{
	name: "schedules", about: "schedules that wait, and how late the runs of others start",
	defaults: options{runs: 10_000},
	by:       byRuns,
	run: func(ctx context.Context, b *bench) error {
		return b.inFresh(ctx, func(d *database) error { return schedules(ctx, b, d) })
	},
}

const (
	schedulesPerSet = 10_000           // one change
	slotsPerSecond  = 10_000 / 60      // as many slots are due as if 10,000 schedules ran each minute
	schedulesPeriod = 2 * time.Second  // the shortest
	schedulesRest   = 20 * time.Second // for which idle schedules are watched, and as long without any: a look of one node more or less is 0.2 a second
	statisticsLag   = 11 * time.Second
)

// schedules measures what waiting schedules cost, changes all of them to ones that run, and
// compares the beginnings of their runs with their slots.
func schedules(ctx context.Context, b *bench, d *database) error {
	f, err := d.nodes(ctx, b.o.nodes, runtime.NodeOptions{})
	if err != nil {
		return err
	}
	for _, m := range f.members {
		schedule.Handle(m.node)
	}
	if err := f.launch(ctx); err != nil {
		return errors.Join(err, f.close())
	}
	return errors.Join(schedulesOn(ctx, b, d, f), f.close())
}

func schedulesOn(ctx context.Context, b *bench, d *database, nodes *fleet) error {
	n := max(b.o.runs, 1)
	rest := min(schedulesRest, time.Duration(n)*time.Millisecond+time.Second)
	none, err := statementsAtRest(ctx, d, rest)
	if err != nil {
		return err
	}
	began := time.Now()
	far := calendar.Spec{On: []calendar.Fields{{Year: calendar.Field(fmt.Sprint(began.Year() + 2))}}}
	if err := applyAll(ctx, nodes, n, func(int) calendar.Spec { return far }); err != nil {
		return err
	}
	fig := figures{"applied_per_second": float64(n) / time.Since(began).Seconds()}
	idle, err := statementsAtRest(ctx, d, rest)
	if err != nil {
		return err
	}
	fig["added_statements_per_second"] = idle - none
	period := max(schedulesPeriod, time.Duration(n/slotsPerSecond)*time.Second)
	err = applyAll(ctx, nodes, n, func(i int) calendar.Spec {
		offset := time.Duration(i) * period / time.Duration(n)
		return calendar.Spec{Every: []calendar.Interval{{Every: calendar.Duration(period), Offset: calendar.Duration(offset.Truncate(time.Second))}}}
	})
	if err != nil {
		return err
	}
	from := time.Now().Add(2 * time.Second).Truncate(time.Second)
	if err := wait(ctx, time.Until(from)); err != nil {
		return err
	}
	m, err := d.measured(ctx, func() error { return wait(ctx, period) })
	if err != nil {
		return err
	}
	late, err := lateness(ctx, d, from, from.Add(period))
	if err != nil {
		return err
	}
	late.into(fig, "late")
	fig["slots_per_second"] = float64(len(late)) / period.Seconds()
	c, err := m.counters(ctx, nodes.close, len(late), 0)
	if err != nil {
		return err
	}
	return b.emit(settings{"schedules": n, "nodes": b.o.nodes}, fig, c, atMost("late_p99_ms", 250), atMost("added_statements_per_second", 1))
}

// statementsAtRest counts the statements a second while nothing is to do. A server without
// pg_stat_statements counts transactions, to which a session that has come to rest adds what it did
// before up to ten seconds later: schedules that did nothing seemed to cost two or three a second.
func statementsAtRest(ctx context.Context, d *database, rest time.Duration) (float64, error) {
	before := rest / 5 // what came before comes to rest
	if !d.rig.statements {
		before = max(before, statisticsLag)
	}
	if err := wait(ctx, before); err != nil {
		return 0, err
	}
	first, err := transactions(ctx, d)
	if err != nil {
		return 0, err
	}
	m, err := d.measured(ctx, func() error { return wait(ctx, rest) })
	if err != nil {
		return 0, err
	}
	if m.calls != nil {
		return float64(*m.calls) / m.took.Seconds(), nil
	}
	last, err := transactions(ctx, d)
	return float64(last-first) / m.took.Seconds(), err
}

// transactions is how many the server has counted. A query of a node is one.
func transactions(ctx context.Context, d *database) (int, error) {
	return d.count(ctx, `SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()`)
}

// applyAll applies n schedules, and waits until all are as they were told to be.
func applyAll(ctx context.Context, nodes *fleet, n int, spec func(i int) calendar.Spec) error {
	for first := 0; first < n; first += schedulesPerSet {
		set := schedule.Set{Name: fmt.Sprint("s", first/schedulesPerSet)}
		for i := first; i < min(first+schedulesPerSet, n); i++ {
			set.Schedules = append(set.Schedules, schedule.Schedule{
				Name: fmt.Sprint(i), Spec: spec(i), Overlap: schedule.Allow, Start: schedule.StartOf(chainFlow, 0),
			})
		}
		applied, err := schedule.Apply(ctx, nodes.client(first), set, nil)
		if err != nil {
			return err
		}
		if _, err := applied.Wait(ctx); err != nil {
			return err
		}
	}
	want := len(spec(0).Every)
	return poll(ctx, func() (bool, error) {
		list, err := schedule.List(ctx, nodes.client(0), "")
		told := 0
		for i := range list {
			if len(list[i].Schedule.Every) == want && list[i].Schedule.Start.Workflow != "" {
				told++
			}
		}
		return told == n, err
	})
}

// lateness returns by how much the runs of a stretch of slots began late.
func lateness(ctx context.Context, d *database, from, to time.Time) (latencies, error) {
	conn, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	rows, _ := conn.Query(ctx, `SELECT (extract(epoch FROM created_at - (labels->>'slot')::timestamptz) * 1e9)::bigint FROM reprise.runs
		WHERE labels ? 'slot' AND (labels->>'slot')::timestamptz >= $1 AND (labels->>'slot')::timestamptz < $2`, from, to)
	late, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	var l latencies
	for _, ns := range late {
		l = append(l, time.Duration(ns))
	}
	if err == nil && len(l) == 0 {
		err = errors.New("no schedule has run")
	}
	return l, err
}
