package upgrade_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// Durable names of the world.
const (
	parcel      workflow.Name[shipment, string]  = "upgrade.parcel"
	customs     workflow.Name[string, string]    = "upgrade.customs"
	rounds      workflow.Name[int, int]          = "upgrade.rounds"
	scanned     workflow.Signal[string]          = "scanned"
	cleared     workflow.Signal[string]          = "cleared"
	redirect    workflow.Update[string, string]  = "redirect"
	whereabouts workflow.Query[struct{}, string] = "whereabouts"
)

// ages is a time that does not come while anybody keeps the dumps.
const ages = 50 * 365 * 24 * time.Hour

// patience bounds every wait; nothing is expected to take nearly as long.
const patience = 2 * time.Minute

// shipment says what a parcel's run goes through.
type shipment struct {
	To      string `json:"to"`
	Abroad  bool   `json:"abroad"`  // a child run clears it first
	Damaged bool   `json:"damaged"` // its first step fails for good
	Lost    bool   `json:"lost"`    // its first step is to be tried again in ages
	Odd     bool   `json:"odd"`     // code panics until it is mended
}

var errDamaged = errors.New("the parcel is damaged")

// register registers the world's code. Odd parcels panic unless it is mended.
func register(n *runtime.Node, mended bool) {
	runtime.Handle(n, parcel, func(ctx workflow.Context, s shipment) (string, error) {
		to := s.To
		redirect.Handle(ctx, func(_ workflow.Context, address string) (string, error) {
			old := to
			to = address
			return old, nil
		}, nil)
		whereabouts.Handle(ctx, func(struct{}) (string, error) { return "on its way to " + to, nil })
		label, err := workflow.Step(ctx, "label", func(context.Context) (string, error) {
			switch {
			case s.Damaged:
				return "", workflow.Permanent(errDamaged)
			case s.Lost:
				return "", errors.New("not found")
			}
			return "label of " + s.To, nil
		}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: ages, Max: ages}})
		if err != nil {
			return "", err
		}
		if s.Odd && !mended {
			panic("an odd parcel")
		}
		if s.Abroad {
			stamp, err := workflow.Call(ctx, customs, s.To, nil)
			if err != nil {
				return "", err
			}
			label += ", " + stamp
		}
		place, ok, err := scanned.ReceiveTimeout(ctx, ages)
		if err != nil || !ok {
			return "", fmt.Errorf("never scanned: %w", err)
		}
		return fmt.Sprintf("%s, scanned in %s, for %s", label, place, to), nil
	}, nil)
	runtime.Handle(n, customs, func(ctx workflow.Context, to string) (string, error) {
		stamp, err := cleared.Receive(ctx)
		return stamp + " for " + to, err
	}, nil)
	runtime.Handle(n, rounds, func(ctx workflow.Context, left int) (int, error) {
		place, err := scanned.Receive(ctx)
		if err != nil || left == 0 {
			return len(place), err
		}
		return 0, workflow.ContinueAsNew(ctx, rounds, left-1, nil)
	}, nil)
}

// world is a store with a node on it.
type world struct {
	t      *testing.T
	ctx    context.Context
	node   *runtime.Node
	client *runtime.Client
}

// enter runs a node on a store until stop is called, which also closes the store.
func enter(t *testing.T, store journal.Store, mended bool) (w *world, stop func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	w = &world{t: t, ctx: ctx, node: runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Name: "upgrade", Logger: log})}
	w.client = w.node.Client()
	register(w.node, mended)
	running, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.node.Run(running) }()
	return w, func() {
		defer cancel()
		end()
		if err := <-ended; err != nil {
			t.Errorf("the node ended with %v", err)
		}
	}
}

func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// until waits for what becomes true soon.
func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-w.ctx.Done():
			w.t.Fatalf("it did not happen: %s", what)
		}
	}
}

// send starts the parcel with a key.
func (w *world) send(key string, s shipment) *runtime.Run[string] {
	w.t.Helper()
	run, err := runtime.Start(w.ctx, w.client, parcel, s, &runtime.StartOptions{Key: key, Labels: map[string]string{"world": "upgrade"}, Priority: 3})
	w.ok(err)
	return run
}

// parcel returns the handle of the parcel with a key.
func (w *world) parcel(key string) *runtime.Run[string] {
	w.t.Helper()
	id, err := w.client.FindKey(w.ctx, key)
	w.ok(err)
	return runtime.RunOf(w.client, parcel, id)
}

// events waits until the run has as many events.
func (w *world) events(run journal.RunID, n int) {
	w.t.Helper()
	w.until(fmt.Sprintf("%s has %d events", run, n), func() bool {
		events, err := w.client.History(w.ctx, run)
		w.ok(err)
		return len(events) >= n
	})
}

// fill leaves runs of every sort: closed in each way, and open in each.
func (w *world) fill() {
	signal := func(run journal.RunID, place string) {
		w.t.Helper()
		w.ok(runtime.Signal(w.ctx, w.client, run, scanned, place, nil))
	}
	done := w.send("done", shipment{To: "Oslo"})
	signal(done.ID(), "Malmö")
	_, err := done.Result(w.ctx)
	w.ok(err)

	failed := w.send("failed", shipment{To: "Bern", Damaged: true})
	if _, err := failed.Result(w.ctx); err == nil {
		w.t.Fatal("a damaged parcel arrived")
	}
	cancelled := w.send("cancelled", shipment{To: "Rome"})
	w.events(cancelled.ID(), 2)
	w.ok(w.client.Cancel(w.ctx, cancelled.ID(), "not wanted"))
	if _, err := cancelled.Result(w.ctx); !errors.Is(err, workflow.ErrCancelled) {
		w.t.Fatalf("cancelled parcel: %v", err)
	}
	terminated := w.send("terminated", shipment{To: "Turin"})
	w.events(terminated.ID(), 2)
	w.ok(w.client.Terminate(w.ctx, terminated.ID(), "no such street"))

	w.events(w.send("waiting", shipment{To: "Paris"}).ID(), 2)

	moved := w.send("redirected", shipment{To: "Lyon"})
	w.events(moved.ID(), 2)
	old, err := runtime.CallUpdate(w.ctx, w.client, moved.ID(), redirect, "Nice", &runtime.UpdateOptions{Key: "first"})
	w.ok(err)
	if old != "Lyon" {
		w.t.Fatalf("the old address is %q", old)
	}

	abroad := w.send("abroad", shipment{To: "Quito", Abroad: true})
	w.events(abroad.ID(), 2)
	w.until("customs wait", func() bool { return len(w.children(abroad.ID())) == 1 })

	lost := w.send("lost", shipment{To: "Faro", Lost: true})
	w.until("its step waits for the next try", func() bool {
		d, err := w.client.Describe(w.ctx, lost.ID())
		w.ok(err)
		return len(d.Steps) == 1 && d.Steps[0].Attempts > 0
	})

	odd := w.send("odd", shipment{To: "Graz", Odd: true})
	w.until("an odd parcel is blocked", func() bool {
		d, err := w.client.Describe(w.ctx, odd.ID())
		w.ok(err)
		return d.Run.Task != nil && d.Run.Task.State == journal.Blocked
	})
	signal(odd.ID(), "Linz") // stays in the inbox

	again, err := runtime.Start(w.ctx, w.client, rounds, 2, &runtime.StartOptions{Key: "rounds"})
	w.ok(err)
	signal(again.ID(), "first")
	w.until("the second generation", func() bool {
		d, err := w.client.Describe(w.ctx, again.ID())
		w.ok(err)
		return d.Run.Generation == 2
	})
	_, err = runtime.Start(w.ctx, w.client, parcel, shipment{To: "Wien"}, &runtime.StartOptions{Key: "later", Delay: ages})
	w.ok(err)
}

// children returns the child runs of a run.
func (w *world) children(parent journal.RunID) []journal.Run {
	w.t.Helper()
	page, err := w.client.List(w.ctx, journal.ListFilter{Parent: parent})
	w.ok(err)
	return page.Runs
}

// finish ends every open run, the blocked one by being mended, and compares what it returns with what the code promised before the upgrade.
func (w *world) finish() {
	wants := func(key, want string) {
		w.t.Helper()
		got, err := w.parcel(key).Result(w.ctx)
		w.ok(err)
		if got != want {
			w.t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	signal := func(key, place string) {
		w.t.Helper()
		w.ok(runtime.Signal(w.ctx, w.client, w.parcel(key).ID(), scanned, place, nil))
	}
	wants("done", "label of Oslo, scanned in Malmö, for Oslo")
	if _, err := w.parcel("failed").Result(w.ctx); err == nil {
		w.t.Error("a damaged parcel arrived")
	}

	moved := w.parcel("redirected")
	where, err := runtime.Query(w.ctx, w.node, moved.ID(), whereabouts, struct{}{})
	w.ok(err)
	if where != "on its way to Nice" {
		w.t.Errorf("a parcel is %s, want on its way to Nice", where)
	}
	again, err := runtime.CallUpdate(w.ctx, w.client, moved.ID(), redirect, "Nice", &runtime.UpdateOptions{Key: "first"})
	w.ok(err)
	if again != "Lyon" {
		w.t.Errorf("an update that was answered before returned %q, want Lyon", again)
	}
	signal("redirected", "Avignon")
	wants("redirected", "label of Lyon, scanned in Avignon, for Nice")

	signal("waiting", "Reims")
	wants("waiting", "label of Paris, scanned in Reims, for Paris")

	abroad := w.parcel("abroad")
	w.ok(runtime.Signal(w.ctx, w.client, w.children(abroad.ID())[0].ID, cleared, "stamp", nil))
	signal("abroad", "Lima")
	wants("abroad", "label of Quito, stamp for Quito, scanned in Lima, for Quito")

	wants("odd", "label of Graz, scanned in Linz, for Graz")

	for _, key := range []string{"lost", "later"} {
		w.ok(w.client.Cancel(w.ctx, w.parcel(key).ID(), "no longer needed"))
		if _, err := w.parcel(key).Result(w.ctx); !errors.Is(err, workflow.ErrCancelled) {
			w.t.Errorf("%s: %v, want it cancelled", key, err)
		}
	}
	id, err := w.client.FindKey(w.ctx, "rounds")
	w.ok(err)
	for _, place := range []string{"second", "third one"} {
		w.ok(runtime.Signal(w.ctx, w.client, id, scanned, place, nil))
	}
	if n, err := runtime.RunOf(w.client, rounds, id).Result(w.ctx); err != nil || n != len("third one") {
		w.t.Errorf("rounds: %d, %v", n, err)
	}
}
