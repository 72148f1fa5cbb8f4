package replay_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// trap is where a test's code shall fail: it remembers the line.
type trap struct {
	line string
	none map[string]int
}

func (tr *trap) boom() {
	tr.line = here(1)
	panic("boom")
}

// crashes is code that panics in every place that runs user code within a strand, at the signal.
var crashes = map[string]func(c ctx, tr *trap) error{
	"the function": func(_ ctx, tr *trap) error { tr.boom(); return nil },
	"a strand": func(c ctx, tr *trap) error {
		workflow.Go(c, func(ctx) { tr.boom() })
		return workflow.Sleep(c, time.Hour)
	},
	"Map": func(c ctx, tr *trap) error {
		_, err := workflow.Map(c, []int{1, 2}, func(ctx, int) (int, error) { tr.boom(); return 0, nil }, nil)
		return err
	},
	"a group": func(c ctx, tr *trap) error {
		g, _ := workflow.NewGroup(c)
		g.Go(func(ctx) error { tr.boom(); return nil })
		return g.Wait()
	},
	"a saga": func(c ctx, tr *trap) error {
		_, err := workflow.Saga(c, func(ctx, *workflow.Undo) (int, error) { tr.boom(); return 0, nil })
		return err
	},
	"a condition": func(c ctx, tr *trap) error { return workflow.Await(c, func() bool { tr.boom(); return false }) },
	"a condition of another strand": func(c ctx, tr *trap) error {
		set := false
		for _, mine := range []bool{false, true} {
			workflow.Go(c, func(c ctx) {
				_ = workflow.Await(c, func() bool {
					if set && mine {
						tr.boom()
					}
					return false
				})
			})
		}
		_ = workflow.Sleep(c, 0)
		workflow.Go(c, func(ctx) { set = true })
		return workflow.Sleep(c, time.Hour)
	},
	"a side effect": func(c ctx, tr *trap) error {
		workflow.SideEffect(c, "x", func() int { tr.boom(); return 0 })
		return nil
	},
	"what the standard library calls": func(_ ctx, tr *trap) error {
		slices.SortFunc([]int{2, 1}, func(int, int) int { tr.boom(); return 0 })
		return nil
	},
	"what calls the standard library": func(_ ctx, tr *trap) error {
		tr.line = here(1)
		_ = strings.Repeat("x", -len(tr.line))
		return nil
	},
	"a nil map": func(_ ctx, tr *trap) error {
		tr.line = here(1)
		tr.none["x"]++
		return nil
	},
	"a nil pointer, with deferred calls": func(_ ctx, tr *trap) error {
		defer func() { tr.line += "" }()
		var e *replay.StepError
		tr.line = here(1)
		_ = e.Failure.Type
		return nil
	},
}

// wantPlace fails the test unless an error's text ends with a line of this test, and shows nothing
// of this machine's folders.
func wantPlace(t *testing.T, err error, line string) {
	t.Helper()
	dir, _ := os.Getwd()
	if err == nil || line == "" || !strings.HasSuffix(err.Error(), " "+line) || strings.Contains(err.Error(), dir) {
		t.Errorf("error %v, want one at %s", err, line)
	}
}

// TestPanicNamesTheLine: wherever user code panics, the error names the function and the line.
func TestPanicNamesTheLine(t *testing.T) {
	for name, crash := range crashes {
		t.Run(name, func(t *testing.T) {
			tr := new(trap)
			r := newRig(define(func(c ctx) (string, error) {
				if _, err := approved.Receive(c); err != nil {
					return "", err
				}
				return "", crash(c, tr)
			}))
			defer r.m.Close()
			mustStep(t, r, started())
			_, err := r.step(signalOf(1, "approved", `""`))
			p, ok := errors.AsType[*replay.PanicError](err)
			if !ok || !strings.HasPrefix(err.Error(), "workflow code panicked: ") || !strings.Contains(p.Where, "replay_test.") ||
				!strings.Contains(p.Stack, "where_test.go") {
				t.Errorf("error %v", err)
			}
			wantPlace(t, err, tr.line)
		})
	}
}

// TestPanicOfHandlers: the error of a query, a validator or an update's handler that panics names
// the line, too. Only that of the handler stops the run.
func TestPanicOfHandlers(t *testing.T) {
	tr := new(trap)
	r := newRig(define(func(c ctx) (string, error) {
		sumOf.Handle(c, func(int) (int, error) { tr.boom(); return 0, nil })
		more.Handle(c, func(ctx, int) (int, error) { tr.boom(); return 0, nil }, &workflow.UpdateOptions[int]{Validate: func(n int) error {
			if n == 0 {
				tr.boom()
			}
			return nil
		}})
		return approved.Receive(c)
	}))
	defer r.m.Close()
	mustStep(t, r, started())
	arg := func(s string) journal.Payload { return journal.Payload{Data: []byte(s)} }
	_, err := r.m.Query("sum", arg("1"))
	wantPlace(t, err, tr.line)
	tr.line = ""
	err = r.m.CheckUpdate("more", arg("0"))
	wantPlace(t, err, tr.line)
	if p, ok := errors.AsType[*replay.PanicError](err); !ok || p.What != `validator of update "more"` || r.m.Closed() {
		t.Errorf("error %#v", err)
	}
	tr.line = ""
	_, err = r.step(updateOf(1, "1"))
	wantPlace(t, err, tr.line)
	if !r.m.Closed() {
		t.Error("the run goes on")
	}
}

// TestMisuseNamesTheVerb: where a verb panics, the line that called it is named, and the verb.
func TestMisuseNamesTheVerb(t *testing.T) {
	line := ""
	_, err := newRig(define(func(ctx) (string, error) {
		var wg workflow.WaitGroup
		line = here(1)
		wg.Done()
		return "", nil
	})).step(started())
	wantPlace(t, err, line+", calling workflow.WaitGroup.Done")
}

// TestPanicText: a panic may say anything; its place is seen all the same.
func TestPanicText(t *testing.T) {
	line := ""
	_, err := newRig(define(func(ctx) (string, error) {
		line = here(1)
		panic(fmt.Errorf("%s", strings.Repeat("long ", 1<<20)))
	})).step(started())
	wantPlace(t, err, line)
	if len(err.Error()) > 5<<10 {
		t.Errorf("%d bytes", len(err.Error()))
	}
}

// TestRefusedVerbIsNamed: code that may only read is told which of its lines called what.
func TestRefusedVerbIsNamed(t *testing.T) {
	var kept ctx
	line := ""
	var refused error
	verbs := map[string]func() error{
		"workflow.Sleep":          func() error { line = here(0); return workflow.Sleep(kept, time.Hour) },
		"workflow.Step":           func() error { line = here(0); _, err := workflow.Step[int](kept, "x", nil, nil); return err },
		"workflow.Do":             func() error { line = here(0); return workflow.Do(kept, "x", nil, nil) },
		"workflow.Signal.Receive": func() error { line = here(0); _, err := approved.Receive(kept); return err },
		"workflow.Signal.Send":    func() error { line = here(0); return number.Send(kept, somebody, 1) },
		"workflow.Call":           func() error { line = here(0); _, err := workflow.Call(kept, kidName, "", nil); return err },
		"workflow.Await":          func() error { line = here(0); return workflow.Await(kept, func() bool { return true }) },
		"workflow.Go":             func() error { line = here(0); workflow.Go(kept, func(ctx) {}); return nil },
		"workflow.WithTimeout":    func() error { line = here(0); workflow.WithTimeout(kept, time.Hour); return nil },
	}
	for verb, call := range verbs {
		t.Run(verb, func(t *testing.T) {
			check := func(who string, err error) {
				t.Helper()
				if err == nil || !strings.Contains(err.Error(), verb+" called by code that may only read at replay_test.") || !errors.Is(err, workflow.ErrReadOnly) {
					t.Errorf("%s: %v", who, err)
				}
				wantPlace(t, err, line)
			}
			r := newRig(define(func(c ctx) (string, error) {
				kept = c
				sumOf.Handle(c, func(int) (int, error) { return 0, call() })
				more.Handle(c, nil, &workflow.UpdateOptions[int]{Validate: func(int) error { return call() }})
				err := workflow.Await(c, func() bool { refused = refusal(call); return true })
				if err != nil {
					return "", err
				}
				return approved.Receive(c)
			}))
			defer r.m.Close()
			mustStep(t, r, started())
			check("condition", refused)
			_, err := r.m.Query("sum", journal.Payload{Data: []byte("1")})
			check("query", err)
			check("validator", r.m.CheckUpdate("more", journal.Payload{Data: []byte("1")}))
		})
	}
}

// TestDivergenceNamesTheVerb: code that asks for something else than the history has is told what
// it called, and where.
func TestDivergenceNamesTheVerb(t *testing.T) {
	r := newRig(define(func(c ctx) (string, error) { return step(c, "old") }))
	mustStep(t, r, started())
	r.m.Close()
	nothing := func(context.Context) error { return nil }
	five := func(context.Context) (int, error) { return 5, nil }
	line := ""
	for verb, call := range map[string]func(c ctx) error{
		"workflow.Sleep":          func(c ctx) error { line = here(0); return workflow.Sleep(c, time.Hour) },
		"workflow.Do":             func(c ctx) error { line = here(0); return workflow.Do(c, "new", nothing, nil) },
		"workflow.StepAsync":      func(c ctx) error { line = here(0); workflow.StepAsync(c, "new", five, nil); return nil },
		"workflow.SideEffect":     func(c ctx) error { line = here(0); workflow.SideEffect(c, "new", func() int { return 1 }); return nil },
		"workflow.Signal.Receive": func(c ctx) error { line = here(0); _, err := approved.Receive(c); return err },
	} {
		err := replayErr(define(func(c ctx) (string, error) { return "", call(c) }), r.history)
		if d, ok := errors.AsType[*replay.DivergenceError](err); !ok || d.Verb != verb {
			t.Errorf("error %#v", err)
		}
		text, _, _ := strings.Cut(err.Error(), ";") // behind it is how to go on
		wantPlace(t, errors.New(text), line+", calling "+verb)
	}
}
