package temporal

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

func TestFamilyEnds(t *testing.T) {
	end := map[string]func(*runtimetest.Env, journal.RunID){
		"completed": func(e *runtimetest.Env, run journal.RunID) { runtimetest.Signal(e, run, FamilyEnd, "enough", nil) },
		"cancelled": func(e *runtimetest.Env, run journal.RunID) { e.Cancel(run, "enough") },
		"terminated": func(e *runtimetest.Env, run journal.RunID) {
			if err := e.Client().Terminate(e.Context(), run, "enough"); err != nil {
				e.Error(err)
			}
		},
	}
	for how, end := range end {
		t.Run(how, func(t *testing.T) {
			runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
				runtimetest.Handle(e, Family, family, nil)
				runtimetest.Handle(e, Member, member, nil)
				run := runtimetest.Start(e, Family, "us", &runtime.StartOptions{Key: "us"})
				e.Sleep(day)
				end(e, run.ID())
				e.Sleep(day)
				want := map[string]journal.Status{"": journal.Completed, "/asked": journal.Cancelled, "/closed": journal.Terminated, "/alone": journal.Open}
				switch how {
				case "cancelled":
					want[""] = journal.Cancelled
				case "terminated":
					want[""] = journal.Terminated
				}
				for who, want := range want {
					if got := status(e, "us"+who); got != want {
						e.Errorf("us%s is %s, want %s", who, got, want)
					}
				}
				if n := e.Effects("tidy up"); n < 1 {
					e.Error("the one that was asked did not tidy up")
				}
			})
		})
	}
}

func status(e *runtimetest.Env, key string) journal.Status {
	e.Helper()
	run, err := e.Client().FindKey(e.Context(), key)
	if err != nil {
		e.Fatal(err)
	}
	d, err := e.Client().Describe(e.Context(), run)
	if err != nil {
		e.Fatal(err)
	}
	return d.Run.Status
}

func TestBatchSlides(t *testing.T) {
	const records, size = 13, 3
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		var mu sync.Mutex
		inside, most, done := map[int]bool{}, 0, map[int]bool{}
		runtimetest.Handle(e, Batch, batch, nil)
		runtimetest.Handle(e, Record, recorder(func(ctx context.Context, n int) error {
			mu.Lock()
			inside[n] = true
			most = max(most, len(inside))
			mu.Unlock()
			leave := func(finished bool) {
				mu.Lock()
				defer mu.Unlock()
				delete(inside, n)
				done[n] = done[n] || finished
			}
			select {
			case <-time.After(time.Duration(1+n%4) * time.Minute):
				leave(true)
				return nil
			case <-ctx.Done():
				leave(false)
				return ctx.Err()
			}
		}).record, nil)
		run := runtimetest.Start(e, Batch, Window{Records: records, Size: size}, &runtime.StartOptions{Key: "batch"})
		if got := run.Must(); got != records || len(done) != records || most > size {
			e.Errorf("%d records, %d done, %d at once", got, len(done), most)
		}
	})
}

// TestWatchChanges deploys the new code while a run is on its way.
func TestWatchChanges(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		code := watchBefore
		e.Register(func(n *runtime.Node) { runtime.Handle(n, Watch, code, nil) })
		old := runtimetest.Start(e, Watch, 4, nil)
		e.Sleep(36 * time.Hour) // in its second day
		code = watch
		e.Restart()
		fresh := runtimetest.Start(e, Watch, 2, nil)
		for run, want := range map[*runtimetest.Run[[]string]][]string{
			old:   {"look", "look", "ask", "look", "ask", "look"},
			fresh: {"ring", "ask", "look", "ask", "look"},
		} {
			if diff := cmp.Diff(want, run.Must()); diff != "" {
				e.Errorf("the watch (-want +got)\n%s", diff)
			}
		}
	})
}

func TestPipeline(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		p := &plant{
			fetch: func(_ context.Context, item string) (string, error) { return "fresh " + item, nil },
			pack:  func(_ context.Context, item string) (string, error) { return item + " in a box", nil },
		}
		runtimetest.Handle(e, Pipeline, p.pipeline, nil)
		answers(e, []string{"fresh fig in a box", "fresh plum in a box"})(runtimetest.Start(e, Pipeline, []string{"fig", "plum"}, nil).Result())
	})
	runtimetest.Test(t, func(e *runtimetest.Env) {
		p := &plant{
			fetch: func(_ context.Context, item string) (string, error) { return item, nil },
			pack:  func(context.Context, string) (string, error) { return "", workflow.Permanent(errors.New("no boxes")) },
		}
		runtimetest.Handle(e, Pipeline, p.pipeline, nil)
		var failed *runtime.FailedError
		if _, err := runtimetest.Start(e, Pipeline, make([]string, 9), nil).Result(); !errors.As(err, &failed) || failed.Failure.Message != "no boxes" {
			e.Errorf("error %v", err)
		}
	})
}
