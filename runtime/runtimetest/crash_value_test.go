package runtimetest_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

const (
	raffle   workflow.Name[[]string, string] = "raffle"
	throttle workflow.Name[int, string]      = "throttle"
	campaign workflow.Name[int, string]      = "campaign"
	batch    workflow.Name[int, int]         = "batch"
)

// TestRandomWhateverCrashes: what the world was told is what the run goes on with, a day later and
// in whatever process.
func TestRandomWhateverCrashes(t *testing.T) {
	t.Parallel()
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		l := &ledger{}
		runtimetest.Handle(e, raffle, func(ctx workflow.Context, guests []string) (string, error) {
			ticket := workflow.UUID(ctx)
			winner := guests[workflow.Random(ctx).IntN(len(guests))]
			if _, err := workflow.Step(ctx, "tell", l.enter(fmt.Sprint(ticket, " ", winner)), nil); err != nil {
				return "", err
			}
			if err := workflow.Sleep(ctx, 48*time.Hour); err != nil { // longer than a run is kept in memory
				return "", err
			}
			second := guests[workflow.Random(ctx).IntN(len(guests))]
			if _, err := workflow.Step(ctx, "tell", l.enter(fmt.Sprint(workflow.UUID(ctx), " ", second)), nil); err != nil {
				return "", err
			}
			return fmt.Sprint(ticket, " ", winner), nil
		}, nil)
		run := runtimetest.Start(e, raffle, []string{"Ann", "Bob", "Cleo", "Dan"}, nil)
		got := run.Must()
		if told := l.list(); len(told) != 2 || told[0] != got || told[0] == told[1] {
			e.Errorf("got %s, told %q", got, told)
		}
	})
}

// TestConfigurationWhateverCrashes: a configuration that is looked at every hour is recorded when
// it has changed, and each hour works with what it was then.
func TestConfigurationWhateverCrashes(t *testing.T) {
	t.Parallel()
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		l := &ledger{}
		var limit atomic.Int64
		limit.Store(10)
		runtimetest.Handle(e, throttle, func(ctx workflow.Context, hours int) (string, error) {
			secret := workflow.SideEffect(ctx, "salt", func() string { return "salt of " + ctx.Info().Workflow })
			var limits []int64
			for hour := range hours {
				n := workflow.SideEffectIfChanged(ctx, "limit", limit.Load, func(a, b int64) bool { return a == b })
				limits = append(limits, n)
				if _, err := workflow.Step(ctx, "send", l.enter(fmt.Sprint(hour, " ", n)), nil); err != nil {
					return "", err
				}
				if err := workflow.Sleep(ctx, time.Hour); err != nil {
					return "", err
				}
			}
			return fmt.Sprint(secret, " ", limits), nil
		}, nil)
		e.After(90*time.Minute, func() { limit.Store(20) })
		run := runtimetest.Start(e, throttle, 4, nil)
		if got := run.Must(); got != "salt of throttle [10 10 20 20]" {
			e.Errorf("got %s", got)
		}
		l.want(e, "0 10", "1 10", "2 20", "3 20")
		values := 0
		for _, ev := range e.History(run.ID()).Events {
			for _, c := range ev.Issued {
				if _, err := c.Value(); c.Kind == journal.CommandRecord && c.Name == "limit" && err == nil {
					values++
				}
			}
		}
		if values != 2 {
			e.Errorf("the history has %d values of the limit", values)
		}
	})
}

// TestChangesWhateverCrashes: new code is deployed in the middle of the second of four days. What
// asks for the whole run stays as it was, what asks in a scope for each day is new from the third
// day on.
func TestChangesWhateverCrashes(t *testing.T) {
	t.Parallel()
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		l := &ledger{}
		var deployed atomic.Bool
		runtimetest.Handle(e, campaign, func(ctx workflow.Context, days int) (string, error) {
			sent := ""
			for day := range days {
				what := fmt.Sprint(day)
				if deployed.Load() {
					if workflow.Changed(ctx, "sign letters") {
						what += " signed"
					}
					if workflow.Changed(workflow.ChangeScope(ctx), "in colour") {
						what += " in colour"
					}
				}
				out, err := workflow.Step(ctx, "letter", l.enter(what), nil)
				if err != nil {
					return "", err
				}
				if sent += out + ", "; workflow.Sleep(ctx, 24*time.Hour) != nil {
					return "", ctx.Err()
				}
			}
			return sent, nil
		}, nil)
		run := runtimetest.Start(e, campaign, 4, nil)
		e.Sleep(36 * time.Hour)
		deployed.Store(true)
		e.Restart()
		if got := run.Must(); got != "0, 1, 2 in colour, 3 in colour, " {
			e.Errorf("got %s", got)
		}
		l.want(e, "0", "1", "2 in colour", "3 in colour")
		other := runtimetest.Start(e, campaign, 1, nil)
		if got := other.Must(); got != "0 signed in colour, " {
			e.Errorf("got %s", got)
		}
	})
}

// lines counts what workflows log, by level and text.
type lines struct {
	slog.Handler
	mu    sync.Mutex
	count map[string]int
}

func (l *lines) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count[r.Level.String()+" "+r.Message]++
	return nil
}

func (l *lines) Enabled(context.Context, slog.Level) bool { return true }
func (l *lines) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *lines) WithGroup(string) slog.Handler            { return l }

// TestLogWhateverCrashes: a line comes once, however often the run is replayed. The one crash can
// make it come again where what it tells of was lost.
func TestLogWhateverCrashes(t *testing.T) {
	t.Parallel()
	quiet := map[string]int{} // how often the lines came without a crash
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		l := &lines{count: map[string]int{}}
		e.Node.Logger = slog.New(l)
		runtimetest.Handle(e, batch, func(ctx workflow.Context, n int) (int, error) {
			workflow.Log(ctx).Info("batch begins", "size", n)
			bad := 0
			for i := range n {
				workflow.Log(ctx).Debug(fmt.Sprint("item ", i))
				if _, err := workflow.Step(ctx, "item", func(context.Context) (int, error) {
					if i == 1 {
						return 0, workflow.Permanent(fmt.Errorf("item %d is broken", i))
					}
					return i, nil
				}, nil); err != nil {
					bad++
					workflow.Log(ctx).Warn("item failed", "item", i, "error", err)
				}
				if err := workflow.Sleep(ctx, 30*time.Hour); err != nil { // another process may go on
					return 0, err
				}
			}
			if bad > 0 {
				workflow.Log(ctx).Error("batch has bad items", "bad", bad)
			}
			return bad, nil
		}, nil)
		if got := runtimetest.Start(e, batch, 3, nil).Must(); got != 1 {
			e.Errorf("%d bad items", got)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		again := 0
		for _, line := range []string{
			"INFO batch begins", "DEBUG item 0", "DEBUG item 1", "WARN item failed", "DEBUG item 2", "ERROR batch has bad items",
		} {
			n := l.count[line]
			if quiet[line] == 0 {
				quiet[line] = n
			}
			if again += n - 1; n < 1 || n > 2 || quiet[line] != 1 {
				e.Errorf("%q came %d times", line, n)
			}
		}
		if again > 2 {
			e.Errorf("one crash made %d lines come again: %v", again, l.count)
		}
	})
}
