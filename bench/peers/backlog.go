package main

import (
	"context"
	"fmt"
	"time"
)

// backlog starts workers on a database full of queued runs and sees how many complete until it is empty or the time
// is over. The clock starts before the workers do. That the queue is empty is asked of the database, once this process
// has seen the last step of every run.
func (m *measurement) backlog(ctx context.Context) (Figures, error) {
	if err := m.begin(ctx); err != nil {
		return nil, err
	}
	before, err := m.look.counters(ctx)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := m.system.Work(ctx); err != nil {
		return nil, err
	}
	ready := time.Since(began)
	deadline := began.Add(seconds(m.Seconds))
	for body.last.Load() < int64(m.Runs) && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	closed := 0
	for {
		if closed, err = m.closed(ctx); err != nil {
			return nil, err
		}
		if closed >= m.Runs || !time.Now().Before(deadline) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	took := time.Since(began)
	after, err := m.look.counters(ctx)
	if err != nil {
		return nil, err
	}
	if closed == 0 {
		return nil, fmt.Errorf("no run completed in %s", took)
	}
	if err := m.verify(ctx, closed); err != nil {
		return nil, err
	}
	f := after.since(before, closed)
	f["runs"], f["took_s"], f["ready_s"] = float64(closed), took.Seconds(), ready.Seconds()
	f["runs_per_s"] = float64(closed) / took.Seconds()
	f["drained"] = float64(closed) / float64(m.Runs)
	return f, nil
}

// verify checks the stored results: each run at most once, each result right, and at least so many.
func (m *measurement) verify(ctx context.Context, atLeast int) error {
	seen := map[int64]bool{}
	err := m.look.each(ctx, m.engine.StoredSQL(), func(in, out []byte) error {
		n, result, err := m.engine.Decode(in, out)
		if err != nil {
			return fmt.Errorf("decode %q %q: %w", in, out, err)
		}
		if n >= seedsFrom {
			return nil
		}
		if seen[n] || n < 0 || n >= int64(m.Runs) {
			return fmt.Errorf("run %d completed twice or was never asked for", n)
		}
		seen[n] = true
		return Input{N: n, Steps: m.Cell.Steps}.check(result)
	})
	if err == nil && len(seen) < atLeast {
		err = fmt.Errorf("%d results are stored, want %d", len(seen), atLeast)
	}
	return err
}
