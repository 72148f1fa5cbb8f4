package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// victim starts runs, reports when all hang in their middle step, and hangs until it is killed.
func (m *measurement) victim(ctx context.Context, events *json.Encoder) error {
	body.Steps, body.Gate = m.Cell.Steps, m.Cell.Steps/2
	if err := m.system.Work(ctx); err != nil {
		return err
	}
	g, started := errgroup.WithContext(ctx)
	g.SetLimit(64)
	for _, in := range inputs(m.Runs, m.Cell.Steps) {
		g.Go(func() error { return m.system.Start(started, in) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	late, cancel := context.WithTimeout(ctx, halfLimit)
	defer cancel()
	err := poll(late, func() (bool, error) { return body.blocked.Load() >= int64(m.Runs), nil })
	if err != nil {
		return fmt.Errorf("%d of %d runs are half-way: %w", body.blocked.Load(), m.Runs, err)
	}
	if err := events.Encode(Event{Name: "half"}); err != nil {
		return err
	}
	<-ctx.Done()
	return errors.New("nobody killed the victim")
}

// survivor works, and reports when the first and the last of the victim's runs showed up and when all had completed.
func (m *measurement) survivor(ctx context.Context, events *json.Encoder) error {
	body.Steps, body.Track = m.Cell.Steps, m.Runs
	if err := m.begin(ctx); err != nil {
		return err
	}
	if err := m.system.Work(ctx); err != nil {
		return err
	}
	if err := events.Encode(Event{Name: "ready"}); err != nil {
		return err
	}
	deadline := time.Now().Add(seconds(m.Seconds))
	closed := 0
	for closed < m.Runs && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
		if body.last.Load() < int64(m.Runs) {
			continue
		}
		var err error
		if closed, err = m.closed(ctx); err != nil {
			return err
		}
	}
	e := Event{Name: "figures", Done: time.Now()}
	if closed < m.Runs {
		e.Done = time.Time{}
	}
	e.Resumed, e.First, e.All = body.shown()
	if err := m.verify(ctx, closed); err != nil {
		return err
	}
	return events.Encode(e)
}
