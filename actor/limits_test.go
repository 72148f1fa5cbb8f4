package actor

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

func (g *rig) stepWith(o *workflow.StepOptions, body func(context.Context) (string, error)) {
	g.define("one", func(ctx workflow.Context) (string, error) { return workflow.Step(ctx, "a", body, o) })
}

var once1 = &workflow.RetryPolicy{Attempts: 1}

// An attempt that ignores its context ends on time all the same, and its late answer is ignored.
func TestTimeoutsOfStubbornSteps(t *testing.T) {
	for name, o := range map[string]*workflow.StepOptions{
		"attempt":   {AttemptTimeout: time.Minute, Retry: once1},
		"overall":   {Timeout: time.Minute},
		"heartbeat": {HeartbeatTimeout: time.Minute, Retry: once1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(g *rig) {
				s := newGate()
				g.stepWith(o, s.stubborn)
				id := g.start("one")
				pass(59 * time.Second)
				g.wantHistory(id, "")
				pass(2 * time.Second)
				g.wantHistory(id, "RunStarted StepFailed(a) RunFailed")
				s.open <- nil
				wait()
				g.wantLive(0)
			})
		})
	}
}

// A step that is asked to cancel keeps its limits: it must heartbeat afterwards too.
func TestHeartbeatDeadlineAfterCancel(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		s := newGate()
		g.define("one", func(ctx workflow.Context) (string, error) {
			inner, cancel := workflow.WithTimeout(ctx, time.Second)
			defer cancel()
			return workflow.Step(inner, "a", s.stubborn, &workflow.StepOptions{HeartbeatTimeout: time.Minute})
		})
		id := g.start("one")
		pass(2 * time.Second)
		g.wantHistory(id, "RunStarted TimerFired")
		pass(2 * time.Minute)
		g.wantHistory(id, "RunStarted TimerFired StepFailed(a) RunFailed")
		s.open <- nil
		wait()
	})
}

// Heartbeats keep an attempt alive; their details reach the next attempt, on whichever node.
func TestHeartbeats(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		var last []string
		g.stepWith(&workflow.StepOptions{HeartbeatTimeout: time.Minute, Retry: &workflow.RetryPolicy{Initial: time.Second}},
			func(ctx context.Context) (string, error) {
				sc := replay.StepContextFrom(ctx)
				if sc.LastHeartbeat != nil {
					last = append(last, string(sc.LastHeartbeat.Data))
					return "resumed", nil
				}
				for i := range 4 {
					p, _ := sc.Encoder.Encode("details", i)
					sc.Heartbeats.Heartbeat(p)
					time.Sleep(50 * time.Second)
				}
				<-ctx.Done() // silent from here on
				return "", context.Cause(ctx)
			})
		id := g.start("one")
		pass(4 * 50 * time.Second)
		if a := g.task(id).Attempts; len(a) != 1 || string(a[0].Heartbeat.Data) != "3" {
			t.Errorf("stored attempts: %+v", a)
		}
		pass(time.Minute)
		g.wake(id)
		g.wantHistory(id, "RunStarted StepCompleted(a) RunCompleted")
		if strings.Join(last, " ") != "3" {
			t.Errorf("the second attempt saw %q", last)
		}
	})
}

// The last heartbeat before a long silence is stored, however many came just before it, and costs
// no second commit.
func TestLastHeartbeatBeforeSilence(t *testing.T) {
	for name, beats := range map[string][]time.Duration{
		"one":                {0},
		"ten at once":        make([]time.Duration, 10),
		"50 ms apart":        {0, 50 * time.Millisecond},
		"a second apart":     {0, time.Second, time.Second, time.Second},
		"six seconds apart":  {0, 6 * time.Second},
		"late and then fast": {20 * time.Second, time.Millisecond, time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(g *rig) {
				silent := make(chan struct{})
				g.stepWith(nil, func(ctx context.Context) (string, error) {
					sc := replay.StepContextFrom(ctx)
					for i, pause := range beats {
						time.Sleep(pause)
						p, _ := sc.Encoder.Encode("details", i)
						sc.Heartbeats.Heartbeat(p)
					}
					close(silent)
					<-ctx.Done()
					return "", context.Cause(ctx)
				})
				id := g.start("one")
				<-silent
				pass(heartbeatSaveEvery + heartbeatPassEvery)
				if a := g.task(id).Attempts; len(a) != 1 || string(a[0].Heartbeat.Data) != strconv.Itoa(len(beats)-1) {
					t.Errorf("stored attempts: %+v", a)
				}
				turn := g.task(id).Turn
				pass(time.Hour)
				if now := g.task(id).Turn; now != turn {
					t.Errorf("%d commits in an hour of silence", now-turn)
				}
			})
		})
	}
}

// A body may heartbeat in a tight loop. Not each heartbeat reaches the actor, but the last one
// reaches the next attempt.
func TestHeartbeatsInATightLoop(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		var last string
		g.stepWith(&workflow.StepOptions{HeartbeatTimeout: time.Minute}, func(ctx context.Context) (string, error) {
			sc := replay.StepContextFrom(ctx)
			if sc.LastHeartbeat != nil {
				last = string(sc.LastHeartbeat.Data)
				return "resumed", nil
			}
			for i := range 1000 {
				p, _ := sc.Encoder.Encode("details", i)
				sc.Heartbeats.Heartbeat(p)
			}
			return "", errors.New("fails after the last")
		})
		id := g.start("one")
		g.wake(id)
		g.wantHistory(id, "RunStarted StepCompleted(a) RunCompleted")
		if last != "999" {
			t.Errorf("the second attempt saw %q", last)
		}
	})
}

// Steps that heed their context hand their run back, uncounted; those that do not are left behind
// after the grace.
func TestDrain(t *testing.T) {
	for name, heeds := range map[string]bool{"heeds": true, "ignores": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(g *rig) {
				s := newGate()
				body := s.stubborn
				if heeds {
					body = s.heedful
				}
				g.stepWith(nil, body)
				id := g.start("one")
				<-s.began
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
				defer cancel()
				began := time.Now()
				g.sys.Drain(ctx, 2*time.Second)
				if took := time.Since(began); took < 10*time.Second || took > 20*time.Second {
					t.Errorf("the drain took %s", took)
				}
				task := g.task(id)
				if task == nil || task.Owner != 0 || len(task.Attempts) != 0 {
					t.Errorf("task after the drain: %+v", task)
				}
				g.wantLive(0)
				s.open <- nil
				wait()
			})
		})
	}
}

// A drain waits for steps that end in time, and hands back runs that would start another one.
func TestDrainLetsStepsEnd(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		s := newGate()
		g.define("two", func(ctx workflow.Context) (string, error) {
			if _, err := workflow.Step(ctx, "a", s.heedful, nil); err != nil {
				return "", err
			}
			return workflow.Step(ctx, "b", s.heedful, nil)
		})
		id := g.start("two")
		<-s.began
		time.AfterFunc(time.Second, func() { s.open <- nil })
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		g.sys.Drain(ctx, time.Second)
		g.wantHistory(id, "RunStarted StepCompleted(a)")
		if task := g.task(id); task.Owner != 0 || len(s.began) != 0 {
			t.Errorf("task after the drain: %+v, %d steps began", task, len(s.began))
		}
	})
}

// A step that falls due while the system drains is not started, and does not keep its run busy
// until the others have ended.
func TestDrainWithAStepThatIsDue(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		s := newGate()
		g.define("two", func(ctx workflow.Context) (string, error) {
			a := workflow.StepAsync(ctx, "a", s.heedful, nil)
			fails := func(context.Context) (string, error) { return "", errors.New("not yet") }
			if _, err := workflow.Step(ctx, "b", fails, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Second, Jitter: -1}}); err != nil {
				return "", err
			}
			return a.Get(ctx)
		})
		id := g.start("two")
		<-s.began
		time.AfterFunc(3*time.Second, func() { s.open <- nil }) // time would stand still before that if the run woke itself
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		g.sys.Drain(ctx, time.Second)
		if task := g.task(id); task.Owner != 0 || len(task.Attempts) != 1 || task.Attempts[0].Made != 1 {
			t.Errorf("task after the drain: %+v", task)
		}
	})
}

// Workflow code that does not await is reported with its stack, and with nobody else's.
func TestStuck(t *testing.T) {
	var reports []string
	bubble(t, func(o *Options) {
		o.Hooks.Stuck = func(_ *journal.Run, _ time.Duration, stack string) { reports = append(reports, stack) }
	}, func(g *rig) {
		g.define("ears", func(ctx workflow.Context) (string, error) { return workflow.Signal[string]("word").Receive(ctx) })
		g.define("stuck", func(workflow.Context) (string, error) { holdsUp(); return "", nil })
		for range 20 {
			g.start("ears")
		}
		id := g.start("stuck")
		pass(time.Minute)
		g.wantHistory(id, "RunStarted RunCompleted")
		if len(reports) != 1 || !strings.Contains(reports[0], "holdsUp") || strings.Contains(reports[0], "Receive") {
			t.Errorf("reports: %q", reports)
		}
	})
}

// A drain does not wait for workflow code that does not await, and waits for all others.
func TestDrainWithHangingCode(t *testing.T) {
	for name, tc := range map[string]struct {
		hangsFor, body, least, most time.Duration // since the run started, resp. the drain began
	}{
		"hangs already":      {hangsFor: 5 * time.Second, least: 0, most: 2 * killGrace},
		"has just begun":     {hangsFor: time.Millisecond, least: time.Second, most: stuckAfterDefault + 2*killGrace},
		"beside a long step": {hangsFor: 5 * time.Second, body: 25 * time.Second, least: 20 * time.Second, most: 20*time.Second + 2*killGrace},
	} {
		t.Run(name, func(t *testing.T) {
			var left []journal.RunID
			bubble(t, func(o *Options) {
				o.Hooks.LeftBehind = func(runs []*journal.Run) {
					for _, r := range runs {
						left = append(left, r.ID)
					}
				}
			}, func(g *rig) {
				g.define("hangs", func(workflow.Context) (string, error) { time.Sleep(time.Hour); return "", nil })
				g.define("works", func(ctx workflow.Context) (string, error) {
					return workflow.Step(ctx, "a", func(context.Context) (string, error) { time.Sleep(tc.body); return "", nil }, nil)
				})
				works := g.start("works")
				hangs := g.start("hangs")
				pass(tc.hangsFor)
				began := time.Now()
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				g.sys.Drain(ctx, 2*time.Second)
				if took := time.Since(began); took < tc.least || took > tc.most {
					t.Errorf("the drain took %s, want %s to %s", took, tc.least, tc.most)
				}
				if len(left) != 1 || left[0] != hangs {
					t.Errorf("left behind: %v", left)
				}
				if got := g.history(works); !strings.Contains(got, "StepCompleted(a)") {
					t.Errorf("the other run: %s", got)
				}
				time.Sleep(2 * time.Hour) // the code returns at last
			})
		})
	}
}

// A policy's own limits never overflow into retries without a pause.
func TestBackoffLimits(t *testing.T) {
	for _, p := range []replay.RetryPolicy{
		{Initial: math.MaxInt64, Factor: 2, Max: math.MaxInt64, Jitter: 1},
		{Initial: time.Second, Factor: math.MaxFloat64, Max: math.MaxInt64, Jitter: 1},
	} {
		for range 100 {
			if d := backoff(p, 3); d < 0 {
				t.Fatalf("%+v waits %s", p, d)
			}
		}
	}
}

func holdsUp() { time.Sleep(10 * time.Second) }

// A panic's text is stored with every retry, so it is cut at once.
func TestPanicIsCut(t *testing.T) {
	text := panicFailure(strings.Repeat("ü", 1<<20)).Message
	if !strings.Contains(text, "actor.TestPanicIsCut (limits_test.go:") || len(text) > panicTextBytesMax+200 || !utf8.ValidString(text) {
		t.Errorf("the message has %d bytes and ends with %q", len(text), text[max(0, len(text)-100):])
	}
}
