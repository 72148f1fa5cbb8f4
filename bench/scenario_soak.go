package main

import (
	"context"
	goruntime "runtime"
	"sync"
	"time"

	"github.com/reprise-run/reprise/runtime"
)

var soakScenario = scenario{
	name: "soak", about: "steady chain for long: the last tenth of the time against the first; bloat, goroutines, heap",
	defaults: options{seconds: 600, concurrency: 64, steps: []int{3}},
	by:       bySeconds,
	run: func(ctx context.Context, b *bench) error {
		return b.inFresh(ctx, func(d *database) error { return b.soak(ctx, d) })
	},
}

const soakWindows = 10

// window is a tenth of a soak.
type window struct {
	latencies  histogram
	goroutines int
	heap       int64
}

// windows sorts what was done by the time at which it was done.
type windows struct {
	began time.Time
	each  time.Duration

	mu   sync.Mutex
	list [soakWindows]window
}

// newWindows divides a time that begins now.
func newWindows(d time.Duration) *windows {
	return &windows{began: time.Now(), each: max(d/soakWindows, 1)}
}

func (w *windows) done(took time.Duration) {
	i := int(time.Since(w.began) / w.each)
	if i >= soakWindows {
		return // it began in time and ended after the last window
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list[i].latencies.add(took)
}

// watch notes, at the end of each window, what the process holds.
func (w *windows) watch(ctx context.Context) {
	for i := range w.list {
		if wait(ctx, time.Until(w.began.Add(w.each*time.Duration(i+1)-w.each/10))) != nil {
			return
		}
		now := holds()
		w.mu.Lock()
		w.list[i].heap, w.list[i].goroutines = now.heap, goruntime.NumGoroutine()
		w.mu.Unlock()
	}
}

func (b *bench) soak(ctx context.Context, d *database) error {
	return b.withNodes(ctx, d, runtime.NodeOptions{}, func(nodes *fleet) error {
		l := b.chainLoad(nodes, b.o.steps[0])
		l.runs = 0
		if err := warmUp(ctx, l); err != nil {
			return err
		}
		w := newWindows(l.d)
		l.done = w.done
		watching, stop := context.WithCancel(ctx)
		var watcher sync.WaitGroup
		watcher.Go(func() { w.watch(watching) })
		got, m, err := d.under(ctx, l)
		stop()
		watcher.Wait()
		if err != nil {
			return err
		}
		f := figures{"runs_per_second": got.perSecond()}
		w.into(f)
		w.held(f)
		c, err := m.counters(ctx, nodes.close, got.runs, got.runs*b.o.steps[0])
		if err != nil {
			return err
		}
		if err := d.bloat(ctx, f); err != nil {
			return err
		}
		s := b.chainSettings(b.o.steps[0])
		s["seconds"] = b.o.seconds
		return b.emit(s, f, c)
	})
}

// into compares what was done in the last window with the first.
func (w *windows) into(f figures) {
	first, last := &w.list[0], &w.list[soakWindows-1]
	for name, v := range map[string]*window{"first": first, "last": last} {
		f[name+"_runs_per_second"] = float64(v.latencies.count) / w.each.Seconds()
		f[name+"_p99_ms"] = milliseconds(v.latencies.at(.99))
	}
	f["last_to_first_runs"] = ratio(float64(last.latencies.count), float64(first.latencies.count))
	f["last_to_first_p99"] = ratio(f["last_p99_ms"], f["first_p99_ms"])
}

// held shows what watch has noted in the first and the last window.
func (w *windows) held(f figures) {
	for name, v := range map[string]*window{"first": &w.list[0], "last": &w.list[soakWindows-1]} {
		f[name+"_goroutines"], f[name+"_heap_mb"] = float64(v.goroutines), float64(v.heap)/(1<<20)
	}
}

const bloatSQL = `
SELECT relname, n_dead_tup, n_live_tup, n_tup_upd, n_tup_hot_upd, autovacuum_count,
       pg_table_size(relid), pg_indexes_size(relid)
FROM pg_stat_user_tables WHERE schemaname = 'reprise' AND relname IN ('runs', 'tasks', 'events') ORDER BY relname`

// bloat puts dead rows and the sizes of tables into f.
func (d *database) bloat(ctx context.Context, f figures) error {
	conn, err := d.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, bloatSQL)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var dead, live, updated, hot, vacuums, table, index int64
		if err := rows.Scan(&name, &dead, &live, &updated, &hot, &vacuums, &table, &index); err != nil {
			return err
		}
		f[name+"_dead_rows"], f[name+"_live_rows"], f[name+"_autovacuums"] = float64(dead), float64(live), float64(vacuums)
		f[name+"_table_mb"], f[name+"_index_mb"] = float64(table)/(1<<20), float64(index)/(1<<20)
		if updated > 0 {
			f[name+"_heap_only_updates"] = ratio(float64(hot), float64(updated))
		}
	}
	return rows.Err()
}
