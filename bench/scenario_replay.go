package main

import (
	"context"
	"fmt"
	goruntime "runtime"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

var replayScenario = scenario{
	name: "replay", about: "cold runs with histories of -steps events: the machine alone, then a node that loads them",
	defaults: options{runs: 5, steps: []int{10, 1_000, 10_000, 50_000}},
	by:       byRuns,
	run: func(ctx context.Context, b *bench) error {
		for _, n := range b.o.steps {
			if err := b.inFresh(ctx, func(d *database) error { return b.replay(ctx, d, n) }); err != nil {
				return err
			}
		}
		return nil
	},
}

// warmSteps are made after the history was replayed, to see what a step costs a run that old.
const warmSteps = 100

func (b *bench) replay(ctx context.Context, d *database, events int) error {
	f := figures{}
	if err := b.machine(events, f); err != nil {
		return err
	}
	if err := b.coldRuns(ctx, d, events, f); err != nil {
		return err
	}
	return b.emit(settings{"events": events, "runs": b.o.runs}, f, nil)
}

// sleeperHistory returns the input and the history of a run that waits for a signal.
func sleeperHistory(events int) (wake, []journal.Event) {
	steps := max(events-1, 1)
	now := time.Now()
	issued := []journal.Issued{{Kind: journal.CommandStep, Name: "step"}}
	history := []journal.Event{{Seq: 1, Kind: journal.RunStarted, Time: now, Issued: issued}}
	for i := range steps {
		ev := journal.Event{
			Seq: journal.Seq(i + 2), Kind: journal.StepCompleted, Cmd: journal.Cmd(i + 1), Name: "step", Time: now, Attempt: 1,
			Payload: journal.Payload{Data: []byte("1")}, Issued: issued,
		}
		if i == steps-1 {
			ev.Issued = nil
		}
		history = append(history, ev)
	}
	return wake{Before: steps, After: warmSteps}, history
}

// machine replays in memory, for at least as long as a measurement needs.
func (b *bench) machine(events int, f figures) error {
	def := workflow.Define(wakeFlow, 1, sleepThenStep)
	enc := journal.New(nil, nil)
	w, history := sleeperHistory(events)
	input, err := enc.Encode("input", w)
	if err != nil {
		return err
	}
	var before, after goruntime.MemStats
	times := 0
	goruntime.ReadMemStats(&before)
	began := time.Now()
	for times < b.o.runs || time.Since(began) < machineAtLeast {
		m := replay.New(def, replay.Info{Input: input}, enc)
		for i := range history {
			if err := m.Replay(&history[i]); err != nil {
				return err
			}
		}
		m.Close()
		times++
	}
	took := time.Since(began)
	goruntime.ReadMemStats(&after)
	n := float64(times * len(history))
	f["machine_events_per_second"] = n / took.Seconds()
	f["machine_allocations_per_event"] = float64(after.Mallocs-before.Mallocs) / n
	f["machine_bytes_per_event"] = float64(after.TotalAlloc-before.TotalAlloc) / n
	return nil
}

const machineAtLeast = 200 * time.Millisecond

// coldRuns writes runs with such histories, wakes each on a node that has never seen it, and times
// its first step and those that follow.
func (b *bench) coldRuns(ctx context.Context, d *database, events int, f figures) error {
	ids, err := b.writeSleepers(ctx, d, events)
	if err != nil {
		return err
	}
	return b.withNodes(ctx, d, runtime.NodeOptions{}, func(nodes *fleet) error {
		client := nodes.client(0)
		if err := warmUp(ctx, flowLoad(nodes, timedFlow, 1, load{workers: 10})); err != nil {
			return err
		}
		gaps()
		var cold, warm latencies
		for _, id := range ids {
			at := time.Now()
			if err := runtime.Signal(ctx, client, id, item, 1, nil); err != nil {
				return err
			}
			if _, err := runtime.RunOf(client, wakeFlow, id).Result(ctx); err != nil {
				return err
			}
			first, between := firstStep(), gaps()
			cold, warm = append(cold, first.Sub(at)), append(warm, between...)
		}
		f["cold_signal_to_step_p50_ms"] = milliseconds(cold.at(.5))
		f["cold_events_per_second"] = float64(events) / cold.at(.5).Seconds()
		f["warm_step_p50_ms"] = milliseconds(warm.at(.5))
		return nil
	})
}

// writeSleepers makes parked runs by the journal itself.
func (b *bench) writeSleepers(ctx context.Context, d *database, events int) ([]journal.RunID, error) {
	m, err := d.member(ctx)
	if err != nil {
		return nil, err
	}
	defer m.store.Close()
	route := journal.Route{Queue: journal.DefaultQueue, Workflow: string(wakeFlow), Version: 1}
	self, err := m.journal.Join(ctx, journal.Node{Name: "writer", Routes: []journal.Route{route}, Lease: time.Hour})
	if err != nil {
		return nil, err
	}
	w, history := sleeperHistory(events)
	input, err := m.journal.Encode("input", w)
	if err != nil {
		return nil, err
	}
	var ids []journal.RunID
	for range max(b.o.runs, 1) {
		id := journal.NewRunID()
		ids = append(ids, id)
		_, err := m.journal.Start(ctx, nil, []journal.Start{{ID: id, Workflow: string(wakeFlow), Input: input, Owner: self.ID()}})
		if err != nil {
			return nil, err
		}
		head := journal.Head{Link: journal.OriginOf(id, 1, 0, input)}
		for turn, rest := 0, history; len(rest) > 0; turn++ {
			n := min(len(rest), journal.CommitEventsMax)
			c := driver.Commit{Run: id, Node: self.ID(), Fence: journal.FenceAtBirth, Turn: journal.Turn(turn), Generation: 1,
				Head: head, Events: slices.Clone(rest[:n])}
			link(&c)
			head = c.NewHead()
			if rest = rest[n:]; len(rest) == 0 {
				c.Next.Kind, c.Waiting = driver.NextPark, []string{"signal"}
			}
			out, err := m.journal.Commit(ctx, []driver.Commit{c})
			if err != nil {
				return nil, err
			}
			if out[0].Err != nil {
				return nil, fmt.Errorf("write the history of run %s: %w", id, out[0].Err)
			}
		}
	}
	return ids, self.Leave(ctx)
}
