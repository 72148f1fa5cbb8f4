package temporal

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

func TestGreeting(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, Greeting, greeting, nil)
		e.FailNext("greet", errors.New("busy")) // a retry gets over it
		wants(e, runtimetest.Start(e, Greeting, "world", nil), "Hello, world!", 0)
	})
}

func TestTripIsBooked(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		w := newWorld()
		runtimetest.Handle(e, Trip, (&agency{book: w.do}).trip, nil)
		wants(e, runtimetest.Start(e, Trip, "Ann", nil), "Ann goes", 0)
		w.want(e, "car", "hotel", "flight")
	})
}

func TestTripIsUndone(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		w := newWorld()
		book := func(ctx context.Context, key, what string) error {
			if what == "flight" {
				return errors.New("fog")
			}
			return w.do(ctx, key, what)
		}
		cancel := func(ctx context.Context, key, what string) error { return w.do(ctx, key, "no "+what) }
		runtimetest.Handle(e, Trip, (&agency{book, cancel}).trip, nil)
		var failed *runtime.FailedError
		if _, err := runtimetest.Start(e, Trip, "Ann", nil).Result(); !errors.As(err, &failed) || failed.Failure.Message != "fog" {
			e.Errorf("error %v", err)
		}
		w.want(e, "car", "hotel", "no flight", "no hotel", "no car")
	})
}

func TestThumbnails(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, Thumbnails, shrink(func(ctx context.Context, picture string) (string, error) {
			time.Sleep(time.Minute)
			if picture == "c" {
				return "", workflow.Permanent(errors.New("not a picture"))
			}
			return "small " + picture, nil
		}).thumbnails, nil)
		run := runtimetest.Start(e, Thumbnails, []string{"a", "b", "c", "d", "e", "f", "g"}, nil)
		wants(e, run, Gallery{
			Small:  []string{"small a", "small b", "", "small d", "small e", "small f", "small g"},
			Failed: "item 2: step shrink: not a picture",
		}, 3*time.Minute) // seven pictures, three at a time
	})
}

func TestMergeTakesWhatIsReadyFirst(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, Merge, part(func(ctx context.Context, what string) (string, error) {
			minutes := map[string]time.Duration{"slow": 30, "quick": 10, "fair": 20}
			select {
			case <-time.After(time.Until(started(e).Add(minutes[what] * time.Minute))):
			case <-ctx.Done():
				return "", ctx.Err()
			}
			return what, nil
		}).merge, nil)
		run := runtimetest.Start(e, Merge, []string{"slow", "quick", "fair"}, nil)
		wants(e, run, []string{"quick", "fair", "slow"}, 30*time.Minute)
	})
}

// started is when the test began: a part that is done again after a crash is ready at the same
// time.
func started(e *runtimetest.Env) time.Time { return time.Now().Add(-e.Elapsed()) }

func TestUploadGoesOnWhereItWas(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		var sent []int
		runtimetest.Handle(e, Upload, sender(func(ctx context.Context, record int) error {
			switch len(sent) {
			case 4: // the first attempt fails
				sent = append(sent, -1)
				return errors.New("connection reset")
			case 8: // the second one hangs
				sent = append(sent, -2)
				<-ctx.Done()
				return ctx.Err()
			}
			sent = append(sent, record)
			return nil
		}).upload, nil)
		wants(e, runtimetest.Start(e, Upload, 10, nil), 10, time.Minute)
		if got, want := fmt.Sprint(sent), "[0 1 2 3 -1 4 5 6 -2 7 8 9]"; got != want {
			e.Errorf("records sent: %s, want %s", got, want)
		}
	})
}

func TestRender(t *testing.T) {
	program := func(e *runtimetest.Env, w *world) *runtimetest.Run[int] {
		r := &renderer{
			draw: func(ctx context.Context, page int) error {
				select {
				case <-time.After(time.Minute):
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			},
			remove: func(ctx context.Context, pages int) error {
				return w.do(ctx, workflow.IdempotencyKey(ctx), fmt.Sprintf("%d pages removed", pages))
			},
		}
		runtimetest.Handle(e, Render, r.render, nil)
		return runtimetest.Start(e, Render, 10, nil)
	}
	t.Run("done", func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			w := newWorld()
			wants(e, program(e, w), 10, 10*time.Minute)
			w.want(e)
		})
	})
	t.Run("cancelled", func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			w := newWorld()
			run := program(e, w)
			e.After(5*time.Minute+time.Second, func() { e.Cancel(run.ID(), "the producer is broke") })
			if _, err := run.Result(); !errors.Is(err, workflow.ErrCancelled) {
				e.Errorf("error %v", err)
			}
			w.want(e, "5 pages removed")
		})
	})
}

func TestOrderIsRouted(t *testing.T) {
	pick := func(kind string) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return kind, nil }
	}
	p := pickers{"apple": pick("apple"), "plum": pick("plum")}
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, Orders, p.order, nil)
		e.Register(func(n *runtime.Node) { runtime.Handle(n, Parcel, parcel, &runtime.HandleOptions{Queue: "north"}) })
		runtimetest.Handle(e, Parcel, parcel, &runtime.HandleOptions{Queue: "south"})
		run := runtimetest.Start(e, Orders, Order{"south", []string{"plum", "apple"}}, nil)
		wants(e, run, "south sent [plum apple]", 0)
	})
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, Orders, p.order, nil)
		if _, err := runtimetest.Start(e, Orders, Order{"south", []string{"fig"}}, nil).Result(); err == nil {
			e.Error("somebody picks figs")
		}
	})
}
