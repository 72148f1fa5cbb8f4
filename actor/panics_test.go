package actor

import (
	"context"
	"errors"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

// A step whose body panics is tried three times, whatever else made attempts fail in between and
// however many owners its run had. The policy may say another number, or none.
func TestPanicsEndAStep(t *testing.T) {
	for name, tc := range map[string]struct {
		policy   workflow.RetryPolicy
		body     string // of each attempt: p panics, g ends its goroutine, f fails, then ok
		attempts int32
		failed   bool
	}{
		"by default":             {body: "ppp", attempts: 3, failed: true},
		"goexit":                 {body: "gpg", attempts: 3, failed: true},
		"among other failures":   {body: "pffpffp", attempts: 7, failed: true},
		"two":                    {body: "ppfff", attempts: 6},
		"one is allowed":         {policy: workflow.RetryPolicy{Panics: 1}, body: "ffp", attempts: 3, failed: true},
		"as many as it likes":    {policy: workflow.RetryPolicy{Panics: -1}, body: "pppppppp", attempts: 9},
		"no more than attempts":  {policy: workflow.RetryPolicy{Attempts: 2, Panics: 5}, body: "pp", attempts: 2, failed: true},
		"the last one counts":    {policy: workflow.RetryPolicy{Attempts: 4}, body: "ppff", attempts: 4, failed: true},
		"others have no limit":   {body: "ffffffffff", attempts: 11},
		"a policy without delay": {policy: workflow.RetryPolicy{Initial: 1, Max: 1}, body: "ppp", attempts: 3, failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(o *Options) { o.PassivateAlways = true }, func(g *rig) { // each owner reads the count
				made := 0
				g.stepWith(&workflow.StepOptions{Retry: &tc.policy}, func(context.Context) (string, error) {
					if made++; made > len(tc.body) {
						return "done", nil
					}
					switch tc.body[made-1] {
					case 'p':
						panic("oh")
					case 'g':
						goruntime.Goexit()
					}
					return "", errors.New("down")
				})
				id := g.start("one")
				for wait(); g.task(id) != nil; wait() {
					g.wake(id)
				}
				kind := journal.StepCompleted
				if tc.failed {
					kind = journal.StepFailed
				}
				if ev := g.store.runs[id].events[1]; ev.Kind != kind || ev.Attempt != tc.attempts {
					t.Errorf("%s at attempt %d, want %s at %d", ev.Kind, ev.Attempt, kind, tc.attempts)
				}
				last := 0
				if tc.failed && !strings.HasSuffix(tc.body, "f") {
					last = 1
				}
				g.wantSaid("panicked a", last)
			})
		})
	}
}

// What a panic leaves says where it happened, in the user's code.
func TestPanicsHaveTheirLine(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		prices := func(m map[string]int) { m["tea"] = 1 }
		g.stepWith(&workflow.StepOptions{AttemptTimeout: time.Minute}, func(context.Context) (string, error) {
			if g.said("retry a 1") == 0 {
				goruntime.Goexit()
			}
			prices(nil)
			return "", nil
		})
		id := g.start("one")
		for wait(); g.task(id) != nil; wait() {
			g.wake(id)
		}
		g.wantSaid("(runtime.Goexit) at actor.TestPanicsHaveTheirLine.func1.2 (panics_test.go:", 1)
		g.wantSaid("assignment to entry in nil map at actor.TestPanicsHaveTheirLine.func1.1 (panics_test.go:", 2)
		f, err := journal.DecodeFailure(g.store.runs[id].events[1].Payload)
		if err != nil || !f.Permanent || !strings.Contains(f.Stack, "panics_test.go") {
			t.Errorf("the step ended with %+v, %v", f, err)
		}
	})
}
