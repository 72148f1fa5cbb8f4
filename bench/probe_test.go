package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A probe asks at its pace although nothing answers, and a question without an answer has the time
// that it has waited.
func TestProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stands := false
		p := &probe{pace: 10 * time.Millisecond, ask: func(ctx context.Context, _ int) error {
			if stands {
				<-ctx.Done()
				return ctx.Err()
			}
			time.Sleep(time.Millisecond)
			return nil
		}}
		got, err := p.during(t.Context(), time.Second)
		if err != nil || len(got.latencies) != 100 || got.unanswered != 0 || got.at(.99) != time.Millisecond {
			t.Errorf("%d answers, %d without, p99 %s, %v", len(got.latencies), got.unanswered, got.at(.99), err)
		}
		stands = true
		got, err = p.during(t.Context(), time.Second)
		if err != nil || len(got.latencies) != 100 || got.unanswered != 100 || got.at(.5) < 400*time.Millisecond {
			t.Errorf("stands still: %d questions, %d without an answer, p50 %s, %v", len(got.latencies), got.unanswered, got.at(.5), err)
		}
		done := make(chan struct{})
		time.AfterFunc(100*time.Millisecond, func() { close(done) })
		began := time.Now()
		if _, err := p.until(t.Context(), time.Hour, done); err != nil || time.Since(began) > 200*time.Millisecond {
			t.Errorf("took %s, %v", time.Since(began), err)
		}
		broken := errors.New("broken")
		p.ask = func(context.Context, int) error { return broken }
		if _, err := p.during(t.Context(), time.Second); !errors.Is(err, broken) {
			t.Errorf("%v, want the error of a question", err)
		}
	})
}

// A lane carries so many bytes a second, whoever hands them over.
func TestLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lane
		began := time.Now()
		both := make(chan struct{}, 2)
		for range cap(both) {
			go func() {
				for range 50 {
					l.carry(1000, 10_000)
				}
				both <- struct{}{}
			}()
		}
		for range cap(both) {
			<-both
		}
		if took := time.Since(began); took != 10*time.Second || l.bytes.Load() != 100_000 {
			t.Errorf("%d bytes took %s, want 100000 in 10s", l.bytes.Load(), took)
		}
		time.Sleep(time.Hour) // what was not used is lost
		began = time.Now()
		if l.carry(10_000, 10_000); time.Since(began) != time.Second {
			t.Errorf("after a rest: %s, want 1s", time.Since(began))
		}
	})
}

// A target is met within its bound, and not when its figure is missing.
func TestTargets(t *testing.T) {
	f := figures{"a": 1, "b": 2}
	var out strings.Builder
	text(held([]target{atLeast("a", 1), atLeast("a", 1.1), atMost("b", 2), atMost("b", 1.9), atMost("c", 1)}, f), &out)
	want := "met missed met missed missed"
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.TrimSpace(line[strings.LastIndex(line, ":")+1:]))
	}
	if strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s in\n%s", got, want, &out)
	}
}

// "fair" is all of the fair scenarios, and one can be named alone.
func TestPickFair(t *testing.T) {
	all, err := pick([]string{"fair"}, options{})
	if err != nil || len(all) != 7 {
		t.Errorf("%d scenarios, %v", len(all), err)
	}
	one, err := pick([]string{"fair/held", "idle"}, options{})
	if err != nil || len(one) != 2 || one[0].name != "fair/held" {
		t.Errorf("%d scenarios, %v", len(one), err)
	}
	if _, err := pick([]string{"fair/"}, options{}); err == nil {
		t.Error("half a name is no name")
	}
}
