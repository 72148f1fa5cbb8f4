package replay_test

import (
	"context"
	goruntime "runtime"
	"strconv"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// BenchmarkReplay rebuilds runs of sequential steps from their histories: the cost of a cold actor.
func BenchmarkReplay(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			def := workflow.Define("bench", 1, func(ctx workflow.Context, _ struct{}) (int, error) {
				sum := 0
				for range n {
					v, err := workflow.Step(ctx, "add", func(context.Context) (int, error) { return 1, nil }, nil)
					if err != nil {
						return 0, err
					}
					sum += v
				}
				return sum, nil
			})
			enc := journal.New(nil, nil)
			history := stepsHistory(n)
			b.ReportAllocs()
			for b.Loop() {
				m := replay.New(def, replay.Info{}, enc)
				for i := range history {
					if err := m.Replay(&history[i]); err != nil {
						b.Fatal(err)
					}
				}
				m.Close()
			}
			b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// stepsHistory is the history of n sequential steps, without the terminal event.
func stepsHistory(n int) []journal.Event {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	issued := []journal.Issued{{Kind: journal.CommandStep, Name: "add"}}
	history := []journal.Event{{Seq: 1, Kind: journal.RunStarted, Time: at, Issued: issued}}
	for i := range n {
		ev := journal.Event{Seq: journal.Seq(i + 2), Kind: journal.StepCompleted, Cmd: journal.Cmd(i + 1), Name: "add",
			Time: at.Add(time.Duration(i) * time.Millisecond), Attempt: 1, Payload: journal.Payload{Data: []byte("1")}}
		if i < n-1 {
			ev.Issued = issued
		}
		history = append(history, ev)
	}
	return history
}

// BenchmarkStep is a live turn: a step's outcome comes in, the next step is handed out.
func BenchmarkStep(b *testing.B) {
	def := workflow.Define("bench", 1, func(ctx workflow.Context, _ struct{}) (int, error) {
		for {
			if _, err := workflow.Step(ctx, "add", func(context.Context) (int, error) { return 1, nil }, nil); err != nil {
				return 0, err
			}
		}
	})
	m := replay.New(def, replay.Info{}, journal.New(nil, nil))
	defer m.Close()
	ev := journal.Event{Seq: 1, Kind: journal.RunStarted, Time: epoch}
	if err := m.Step(&ev); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		s := m.Take().Steps[0]
		ev = journal.Event{Seq: m.LastSeq() + 1, Kind: journal.StepCompleted, Cmd: s.Cmd, Name: s.Name, Time: epoch,
			Payload: journal.Payload{Data: []byte("1")}}
		if err := m.Step(&ev); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParked is the memory of a run that waits.
func BenchmarkParked(b *testing.B) {
	enc := journal.New(nil, nil)
	var machines []*replay.Machine
	var before, after goruntime.MemStats
	goruntime.GC()
	goruntime.ReadMemStats(&before)
	for b.Loop() {
		m := replay.New(workflows["wait"], replay.Info{Labels: map[string]string{}}, enc)
		if err := m.Step(&journal.Event{Seq: 1, Kind: journal.RunStarted, Time: epoch}); err != nil {
			b.Fatal(err)
		}
		machines = append(machines, m)
	}
	goruntime.GC()
	goruntime.ReadMemStats(&after)
	bytes := after.HeapInuse + after.StackInuse - before.HeapInuse - before.StackInuse
	b.ReportMetric(float64(bytes)/float64(b.N), "bytes/run")
	for _, m := range machines {
		m.Close()
	}
}
