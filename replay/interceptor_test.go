package replay_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

type next = func(ctx) error

// saying is an interceptor that says what it sees, before and after.
func saying(name string) workflow.Interceptor {
	return func(c ctx, next next) error {
		say(c, "%s before", name)
		err := next(c)
		say(c, "%s after: %v", name, err)
		return err
	}
}

// TestInterceptors: the first is outermost, each sees the function's error, their steps are events
// like those of the function, and every prefix of the history replays.
func TestInterceptors(t *testing.T) {
	refused := errors.New("refused")
	noticing := func(c ctx, next next) error {
		err := next(c)
		if err != nil {
			if _, err := step(c, "notice"); err != nil {
				return err
			}
		}
		return err
	}
	plain := define(func(c ctx) (string, error) {
		if v, err := approved.Receive(c); err != nil || v != "yes" {
			return "", errors.Join(err, refused)
		}
		return step(c, "work")
	})
	for _, c := range []struct {
		signal string
		step   string
		kind   journal.Kind
		said   string
	}{
		{"yes", "work", journal.RunCompleted, "a before\nb before\nb after: <nil>\na after: <nil>\n"},
		{"no", "notice", journal.RunFailed, "a before\nb before\nb after: refused\na after: refused\n"},
	} {
		t.Run(c.signal, func(t *testing.T) {
			def := workflow.Intercept(plain, saying("a"), nil, noticing, saying("b"))
			r := newRig(def)
			defer r.m.Close()
			mustStep(t, r, started())
			mustStep(t, r, signalOf(1, "approved", `"`+c.signal+`"`))
			if steps := r.m.Take().Steps; len(steps) != 1 || steps[0].Name != c.step {
				t.Errorf("steps %v, want %s", steps, c.step)
			}
			mustStep(t, r, completed(1, c.step, `"done"`))
			terminal := r.m.Take().Terminal
			if terminal == nil || terminal.Kind != c.kind {
				t.Fatalf("the run ended with %v", terminal)
			}
			if diff := cmp.Diff(c.said, r.said["said"]); diff != "" {
				t.Errorf("said (-want +got):\n%s", diff)
			}
			if c.kind == journal.RunCompleted && string(terminal.Payload.Data) != `"done"` {
				t.Errorf("output %s", terminal.Payload.Data)
			}
			checkPrefixes(t, def, r.history)
		})
	}
	if plain.Run == nil || workflow.Intercept(plain, nil) == plain {
		t.Error("Intercept does not make a copy")
	}
}

// TestInterceptorPassesOnAScope: the function runs in the scope that its interceptor gives it.
func TestInterceptorPassesOnAScope(t *testing.T) {
	limited := func(c ctx, next next) error {
		c, cancel := workflow.WithTimeout(c, time.Hour)
		defer cancel()
		return next(c)
	}
	def := workflow.Intercept(define(func(c ctx) (string, error) { return approved.Receive(c) }), limited)
	r := newRig(def)
	defer r.m.Close()
	mustStep(t, r, started())
	late := journal.Event{Kind: journal.TimerFired, Cmd: 1, Time: epoch.Add(time.Hour)}
	mustStep(t, r, late)
	d := r.m.Take()
	if d.Terminal == nil || d.Terminal.Kind != journal.RunFailed {
		t.Fatalf("decision %+v", d)
	}
	if f, err := journal.DecodeFailure(d.Terminal.Payload); err != nil || f.Type != journal.FailureTimeout {
		t.Errorf("the failure is %v, %v", f, err)
	}
	checkPrefixes(t, def, r.history)
}

// TestInterceptorErrors: what an interceptor returns is the workflow's error; an error that makes
// the run continue does so as long as it can be found.
func TestInterceptorErrors(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		intercept workflow.Interceptor
		code      func(ctx) (string, error)
		kind      journal.Kind
		text      string
	}{
		"refuses":         {func(ctx, next) error { return boom }, func(ctx) (string, error) { panic("called") }, journal.RunFailed, "boom"},
		"fails after all": {func(c ctx, next next) error { return errors.Join(next(c), boom) }, func(ctx) (string, error) { return "x", nil }, journal.RunFailed, "boom"},
		"replaces":        {func(c ctx, next next) error { _ = next(c); return boom }, func(ctx) (string, error) { return "", errors.New("other") }, journal.RunFailed, "boom"},
		"wraps":           {func(c ctx, next next) error { return fmt.Errorf("wrapped: %w", next(c)) }, func(ctx) (string, error) { return "", boom }, journal.RunFailed, "wrapped: boom"},
		"continues": {func(c ctx, next next) error { return fmt.Errorf("wrapped: %w", next(c)) }, func(c ctx) (string, error) {
			return "", workflow.ContinueAsNew(c, workflow.Name[*void, string]("test"), nil, nil)
		}, journal.RunContinued, ""},
		"does not continue": {func(c ctx, next next) error { _ = next(c); return boom }, func(c ctx) (string, error) {
			return "", workflow.ContinueAsNew(c, workflow.Name[*void, string]("test"), nil, nil)
		}, journal.RunFailed, "boom"},
	} {
		t.Run(name, func(t *testing.T) {
			def := workflow.Intercept(define(c.code), c.intercept)
			r := newRig(def)
			defer r.m.Close()
			mustStep(t, r, started())
			d := r.m.Take()
			if d.Terminal == nil || d.Terminal.Kind != c.kind {
				t.Fatalf("decision %+v", d)
			}
			if f, _ := journal.DecodeFailure(d.Terminal.Payload); c.text != "" && f.Message != c.text {
				t.Errorf("the failure is %v", f)
			}
		})
	}
}

// TestInterceptorMistakes: what only a wrong interceptor does stops the machine, whatever it
// returns. The reason names the interceptor, and nothing of the turn is kept.
func TestInterceptorMistakes(t *testing.T) {
	boom := errors.New("boom")
	fails := func(ctx) (string, error) { return "", boom }
	works := func(ctx) (string, error) { return "x", nil }
	var kept workflow.Context
	other := newRig(define(func(c ctx) (string, error) { kept = c; return approved.Receive(c) }))
	defer other.m.Close()
	mustStep(t, other, started())
	for name, c := range map[string]struct {
		intercept workflow.Interceptor
		code      func(ctx) (string, error)
		is        error
		want      string
	}{
		"nil without next": {func(ctx, next) error { return nil }, works, journal.ErrInvalid, "returned nil without calling next"},
		"nil for an error": {func(c ctx, next next) error { _ = next(c); return nil }, fails, boom, "returned nil although next had failed; return that error or another one: boom"},
		"nil to continue": {func(c ctx, next next) error { _ = next(c); return nil }, func(c ctx) (string, error) {
			return "", workflow.ContinueAsNew(c, workflow.Name[*void, string]("test"), nil, nil)
		}, journal.ErrInvalid, "although next had failed"},
		"nil for a panic": {func(c ctx, next next) error { defer func() { _ = recover() }(); return next(c) }, func(ctx) (string, error) { panic("x") }, journal.ErrInvalid, "recovered from a panic"},
		"twice":           {func(c ctx, next next) error { _ = next(c); _ = next(c); return nil }, works, journal.ErrInvalid, "a second time"},
		"again and again": {func(c ctx, next next) (err error) {
			for range 3 {
				if err = next(c); err == nil {
					break
				}
			}
			return err
		}, fails, boom, "a second time"},
		"another strand":       {func(c ctx, next next) error { return inStrand(c, next) }, works, journal.ErrInvalid, "on another strand"},
		"a goroutine":          {func(c ctx, next next) error { return inGoroutine(func() error { return next(c) }) }, works, workflow.ErrOutside, "workflow.Interceptor.next"},
		"a zero Context":       {func(_ ctx, next next) error { return next(workflow.Context{}) }, works, workflow.ErrOutside, ""},
		"another run":          {func(_ ctx, next next) error { return next(kept) }, works, workflow.ErrOutside, ""},
		"a ChangeScope":        {func(c ctx, next next) error { return next(workflow.ChangeScope(c)) }, works, journal.ErrInvalid, "ChangeScope"},
		"an inner one's":       {func(c ctx, next next) error { _ = next(c); _, err := step(c, "react"); return err }, func(c ctx) (string, error) { return step(c, "") }, journal.ErrInvalid, `step "": is empty`},
		"an output":            {func(c ctx, next next) error { _ = next(c); _, err := step(c, "react"); return err }, func(ctx) (string, error) { return strings.Repeat("x", 2000), nil }, journal.ErrInvalid, "exceeds the limit"},
		"an option of its own": {func(c ctx, next next) error { _ = next(c); _, err := step(c, ""); return err }, works, journal.ErrInvalid, `step "": is empty`},
	} {
		t.Run(name, func(t *testing.T) {
			var seen []error
			outer := func(c ctx, next next) error { // reacts to what it sees, which must not come to pass
				err := next(c)
				seen = append(seen, err)
				if err != nil {
					_, _ = step(c, "notice")
				}
				return err
			}
			r := newRig(workflow.Intercept(define(c.code), outer, c.intercept))
			defer r.m.Close()
			_, err := r.step(started())
			if is := c.is; is == workflow.ErrOutside && name != "a goroutine" {
				// The call was refused, and the interceptor returned that: it is an error like any
				// other.
				if err != nil || len(seen) != 1 || !errors.Is(seen[0], is) {
					t.Errorf("the turn ended with %v, after %v", err, seen)
				}
				return
			} else if !errors.Is(err, is) || !strings.Contains(err.Error(), c.want) || len(seen) != 0 && name != "a goroutine" {
				t.Errorf("the turn ended with %v, after %v", err, seen)
			}
			if d := r.m.Take(); d.Terminal != nil || len(d.Steps) != 0 {
				t.Errorf("the turn is kept: %+v", d)
			}
			if strings.Contains(c.want, "next") && name != "a goroutine" && !strings.Contains(err.Error(), "workflow interceptor replay_test.TestInterceptorMistakes.func") {
				t.Errorf("the error does not name the interceptor: %v", err)
			}
		})
	}
}

func inStrand(c ctx, next next) error {
	var g workflow.WaitGroup
	g.Go(c, func(c ctx) { _ = next(c) })
	return g.Wait(c)
}

func inGoroutine(fn func() error) error {
	failed := make(chan error)
	go func() { failed <- fn() }()
	return <-failed
}

// TestInterceptorPanics: a panic goes through interceptors and names the line that panicked; one
// of an interceptor names its own.
func TestInterceptorPanics(t *testing.T) {
	for name, c := range map[string]struct {
		intercept workflow.Interceptor
		code      func(ctx) (string, error)
	}{
		"the function":    {saying("x"), func(ctx) (string, error) { return panics("boom") }},
		"the interceptor": {func(c ctx, next next) error { _ = next(c); _, err := panics("boom"); return err }, func(ctx) (string, error) { return "", nil }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(workflow.Intercept(define(c.code), saying("outer"), c.intercept))
			defer r.m.Close()
			_, err := r.step(started())
			p, ok := errors.AsType[*replay.PanicError](err)
			if !ok || p.Value != "boom" || !strings.HasPrefix(p.Where, "replay_test.panics (interceptor_test.go:") {
				t.Errorf("the turn ended with %v", err)
			}
		})
	}
}

//go:noinline
func panics(text string) (string, error) { panic(text) }

// TestInterceptorIsComparedOnReplay: an interceptor that asks for something new is a change, which
// Changed makes safe.
func TestInterceptorIsComparedOnReplay(t *testing.T) {
	plain := define(func(c ctx) (string, error) { return approved.Receive(c) })
	asks := func(c ctx, next next) error {
		if _, err := step(c, "announce"); err != nil {
			return err
		}
		return next(c)
	}
	old := newRig(plain)
	defer old.m.Close()
	mustStep(t, old, started())
	for name, c := range map[string]struct {
		intercept workflow.Interceptor
		fits      bool
	}{
		"asks": {asks, false},
		"asks if changed": {func(c ctx, next next) error {
			if workflow.Changed(c, "announce") {
				return asks(c, next)
			}
			return next(c)
		}, true},
	} {
		r := newRig(workflow.Intercept(plain, c.intercept))
		ev := old.history[0]
		err := r.m.Replay(&ev)
		if _, differs := errors.AsType[*replay.DivergenceError](err); differs == c.fits {
			t.Errorf("%s: replay ended with %v", name, err)
		}
		r.m.Close()
	}
}

// TestInterceptorUnwinds: a machine that is closed amid an intercepted function ends it, and what
// an interceptor does then has no effect.
func TestInterceptorUnwinds(t *testing.T) {
	ended := 0
	r := newRig(workflow.Intercept(define(func(c ctx) (string, error) { return approved.Receive(c) }), func(c ctx, next next) error {
		defer func() { ended++ }()
		_ = next(c)
		return nil
	}))
	mustStep(t, r, started())
	if r.m.Close(); ended != 1 {
		t.Errorf("the interceptor ended %d times", ended)
	}
	late := newRig(workflow.Intercept(define(func(ctx) (string, error) { return "done", nil }), func(c ctx, next next) error {
		err := next(c)
		workflow.Go(c, func(c ctx) {
			defer func() { ended++; _ = next(c) }() // in another strand, but nothing is left to be stopped
			_ = workflow.Sleep(c, time.Hour)
		})
		return errors.Join(err, workflow.Sleep(c, time.Minute))
	}))
	defer late.m.Close()
	mustStep(t, late, started())
	mustStep(t, late, journal.Event{Kind: journal.TimerFired, Cmd: 1, Time: epoch.Add(time.Minute)})
	if d := late.m.Take(); d.Terminal == nil || d.Terminal.Kind != journal.RunCompleted || ended != 2 {
		t.Errorf("the run ended with %+v, the strand %d times", d.Terminal, ended-1)
	}
}
