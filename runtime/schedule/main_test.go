package schedule_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/schedule"
	"github.com/reprise-run/reprise/runtime/schedule/calendar"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const (
	work workflow.Name[job, string] = "work"
)

// job is the input of the workflow that tests schedule: how long it takes, and whether it fails.
type job struct {
	Takes  time.Duration
	Fails  bool
	Deaf   bool // it does not end when it is asked to
	Broken bool
}

// handleWork registers it.
func handleWork(n *runtime.Node) {
	runtime.Handle(n, work, func(ctx workflow.Context, j job) (string, error) {
		if j.Deaf {
			_ = workflow.Sleep(workflow.Shield(ctx), j.Takes)
		} else if err := workflow.Sleep(ctx, j.Takes); err != nil {
			return "", err
		}
		if j.Fails {
			return "", errors.New("it always fails")
		}
		return "done", nil
	}, nil)
}

var silent = slog.New(slog.DiscardHandler)

// rig is a store in memory and a client, in a bubble. Nodes come and go.
type rig struct {
	testing.TB
	store  *memory.Store
	client *runtime.Client
	ctx    context.Context
	codec  journal.Codec // of nodes; nil for the default
	stop   func()        // ends the node that serves; nil without one
	began  time.Time
}

// bubble executes a test in a bubble with a node.
func bubble(t *testing.T, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(nil)
		defer store.Close()
		r := &rig{TB: t, store: store, ctx: context.Background(), began: time.Now()}
		r.client = runtime.NewClient(journal.New(store.Peer(), nil), &runtime.ClientOptions{Logger: silent, Actor: "eva"})
		r.serve(nil)
		test(r)
		r.leave()
	})
}

// serve runs a node until leave.
func (r *rig) serve(o *runtime.NodeOptions) { r.serveWith(schedule.Handle, o) }

// serveWith runs a node that executes what handle says, beside work.
func (r *rig) serveWith(handle func(*runtime.Node), o *runtime.NodeOptions) {
	if o == nil {
		o = &runtime.NodeOptions{}
	}
	if o.Logger == nil {
		o.Logger = silent
	}
	o.Drain = time.Millisecond
	n := runtime.NewNode(journal.New(r.store, &journal.Options{Codec: r.codec}), o)
	handle(n)
	handleWork(n)
	ctx, cancel := context.WithCancel(r.ctx)
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	r.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			r.Error(err)
		}
	}
}

func (r *rig) leave() {
	if r.stop != nil {
		r.stop()
		r.stop = nil
	}
}

// until waits until so much time has passed since the beginning, and until nothing is under way.
func (r *rig) until(d time.Duration) {
	time.Sleep(time.Until(r.began.Add(d)))
	synctest.Wait()
}

// apply applies schedules to the default set and waits.
func (r *rig) apply(list ...schedule.Schedule) schedule.Changes {
	r.Helper()
	a, err := schedule.Apply(r.ctx, r.client, schedule.Set{Schedules: list}, nil)
	if err != nil {
		r.Fatal(err)
	}
	done, err := a.Wait(r.ctx)
	if err != nil {
		r.Fatal(err)
	}
	return done
}

// every is a schedule of the workflow work.
func every(name string, d time.Duration, j job) schedule.Schedule {
	return schedule.Schedule{
		Name: name, Spec: calendar.Spec{Every: []calendar.Interval{{Every: calendar.Duration(d)}}}, Start: schedule.StartOf(work, j),
	}
}

// slot is a run of a schedule.
type slot struct {
	run journal.Run
	at  time.Duration // the slot, since the beginning
}

// slots lists the runs of a schedule by their slots.
func (r *rig) slots(id string) (list []slot) {
	r.Helper()
	for f := (journal.ListFilter{Workflow: string(work), Labels: map[string]string{schedule.LabelSchedule: id}, Limit: journal.ListMax}); ; {
		page, err := r.client.List(r.ctx, f)
		if err != nil {
			r.Fatal(err)
		}
		for _, run := range page.Runs {
			at, err := time.Parse(time.RFC3339, run.Labels[schedule.LabelSlot])
			if err != nil {
				r.Fatal(err)
			}
			list = append(list, slot{run, at.Sub(r.began)})
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			slices.SortStableFunc(list, func(a, b slot) int { return int(a.at - b.at) })
			return list
		}
	}
}

// wantSlots compares the slots that have run, as text: "1m 2m".
func (r *rig) wantSlots(id, want string) {
	r.Helper()
	got := []string{}
	for _, s := range r.slots(id) {
		text := strings.Replace(s.at.String(), "m0s", "m", 1)
		got = append(got, strings.Replace(text, "h0m", "h", 1))
	}
	if text := strings.Join(got, " "); text != want {
		r.Errorf("schedule %s has run for %s, want %s", id, text, want)
	}
}

// info returns what a schedule shows.
func (r *rig) info(id string) schedule.Found {
	r.Helper()
	f, err := schedule.Get(r.ctx, r.client, id)
	if err != nil {
		r.Fatal(err)
	}
	return f
}

// must fails the test if a call has failed.
func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}
