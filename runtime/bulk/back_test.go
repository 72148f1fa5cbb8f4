package bulk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// moved is a signal that some parcels do not bear.
const moved workflow.Signal[string] = "moved"

// startMoved starts a parcel for each text, which has the signals of that text, and returns those
// that have one.
func startMoved(t testing.TB, c *runtime.Client, words ...string) (once []journal.RunID) {
	t.Helper()
	for i, text := range words {
		run, err := runtime.Start(context.Background(), c, parcel, i, nil)
		clustertest.MustStart(t, run, err)
		for _, word := range strings.Fields(text) {
			if err := runtime.Signal(context.Background(), c, run.ID(), moved, word, nil); err != nil {
				t.Fatal(err)
			}
		}
		if len(strings.Fields(text)) == 1 {
			once = append(once, run.ID())
		}
	}
	return once
}

var skipMoved = bulk.Job{Verb: bulk.Skip, Message: "moved", Where: `workflow = "parcel"`, Reason: "nowhere"}

// TestSkipAtEveryCrash: a message is left out of each run that has it, once. A run without it, and
// one that has two, are failures with why.
func TestSkipAtEveryCrash(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		e.Register(bulk.Handle) // and no parcels: their messages stay where they are
		ctx, c := runtime.WithActor(context.Background(), "eva"), e.Client()
		once := startMoved(e, c, "a", "b", "c", "", "d e")
		skip := skipMoved
		skip.Unproven = true
		job, err := bulk.Start(ctx, c, skip, nil)
		got := clustertest.MustResult(e, clustertest.MustStart(e, job, err))
		if got.Done != 3 || got.Failed != 2 {
			e.Errorf("the job says %+v, want 3 done and 2 failed", got)
		}
		if text := fmt.Sprint(got.Failures); !strings.Contains(text, "2 messages moved: choose one by its number, of 1, 2") || !strings.Contains(text, "no signal or update moved") {
			e.Errorf("the failures are %s", text)
		}
		wantOnce(e, c, "skip", once, "eva", because(job.ID(), "nowhere"))
		for _, run := range once {
			if d, err := c.Describe(ctx, run); err != nil || d.Unread != 0 || d.Run.Generation != 2 {
				e.Errorf("run %s is %+v, %v", run, d, err)
			}
		}
	})
}

// TestSkipsPoison: runs that are blocked by a signal on which their code panics go on without it.
func TestSkipsPoison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(nil)
		defer store.Close()
		n := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: silent})
		bulk.Handle(n)
		runtime.Handle(n, parcel, func(ctx workflow.Context, _ int) (string, error) {
			to, err := moved.Receive(ctx)
			if to == "nowhere" {
				panic("no such place")
			}
			return to, err
		}, nil)
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- n.Run(ctx) }()
		once := startMoved(t, n.Client(), "nowhere", "nowhere", "nowhere")
		synctest.Wait()
		wantFound(t, n.Client(), "status = blocked", 3)
		job, err := bulk.Start(ctx, n.Client(), skipMoved, nil)
		if got := clustertest.MustResult(t, clustertest.MustStart(t, job, err)); got.Done != 3 {
			t.Errorf("the job says %+v, want 3 done", got)
		}
		for _, run := range once {
			if err := runtime.Signal(ctx, n.Client(), run, moved, "Bonn", nil); err != nil {
				t.Fatal(err)
			}
			if to := clustertest.MustResult(t, runtime.RunOf(n.Client(), parcel, run)); to != "Bonn" {
				t.Errorf("run %s ended at %q", run, to)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestBackWithOthers: a reset gives all runs another input and version, and a fork another result of
// a step, or another input.
func TestBackWithOthers(t *testing.T) {
	const order workflow.Name[string, string] = "order"
	runtimetest.Test(t, func(e *runtimetest.Env) {
		e.Register(func(n *runtime.Node) {
			bulk.Handle(n)
			for _, version := range []int32{1, 2} {
				runtime.Handle(n, order, func(ctx workflow.Context, in string) (string, error) {
					paid, err := workflow.Step(ctx, "charge", func(context.Context) (string, error) { return "card", nil }, nil)
					if err != nil || in == "refuse" {
						return "", errors.Join(err, errors.New("refused"))
					}
					return fmt.Sprint(in, " by ", paid, " in version ", version), nil
				}, &runtime.HandleOptions{Version: version})
			}
		})
		ctx, c := context.Background(), e.Client()
		const n = 3
		for range n {
			run, err := runtime.Start(ctx, c, order, "refuse", &runtime.StartOptions{Version: 1})
			clustertest.MustStart(e, run, err)
		}
		synctest.Wait()
		outputs := func(where string) map[string]int {
			all := map[string]int{}
			for _, run := range find(e, c, where) {
				out, err := runtime.RunOf(c, order, run.ID).Result(ctx)
				if err != nil {
					out = "failed"
				}
				all[out]++
			}
			return all
		}
		for _, job := range []bulk.Job{
			{Verb: bulk.Fork, To: runtime.RunStart, Input: json.RawMessage(`"A"`), Queue: "default"},
			{Verb: bulk.Reset, To: runtime.GenerationStart, Input: json.RawMessage(`"B"`), Version: 2},
			{Verb: bulk.Fork, To: runtime.AfterEvent(2), Results: map[string]json.RawMessage{"charge": json.RawMessage(`"cash"`)}},
		} {
			job.Where = `workflow = "order" and status = failed`
			if job.Results != nil {
				job.Where = `workflow = "order" and version = 2`
			}
			run, err := bulk.Start(ctx, c, job, nil)
			if got := clustertest.MustResult(e, clustertest.MustStart(e, run, err)); got.Done != n {
				e.Errorf("%s: %+v, want %d done", job.Verb, got, n)
			}
			synctest.Wait()
		}
		want := map[string]int{"A by card in version 1": n, "B by card in version 2": n, "B by cash in version 2": n}
		if got := outputs(`workflow = "order"`); fmt.Sprint(got) != fmt.Sprint(want) {
			e.Errorf("the runs end with %v, want %v", got, want)
		}
		none, err := bulk.Start(ctx, c, bulk.Job{Verb: bulk.Fork, To: runtime.AfterEvent(1), Where: `workflow = "order"`,
			Results: map[string]json.RawMessage{"none": json.RawMessage("1")}}, nil)
		if got := clustertest.MustResult(e, clustertest.MustStart(e, none, err)); got.Failed != 3*n || !strings.Contains(got.Failures[0].Error, `no step "none"`) {
			e.Errorf("forks with a result of no step: %+v", got)
		}
	})
}

// TestPreview: a dry run says of the first runs what would be taken back, with their messages, which
// runs would fail, and does nothing.
func TestPreview(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		e.Register(handleWeighed)
		ctx, c := context.Background(), e.Client()
		without, with := startWeighed(e, c, 30)
		synctest.Wait()
		before := auditOf(e, c, "")
		list, err := bulk.Preview(ctx, c, nil, bulk.Job{Verb: bulk.Reset, To: runtime.BeforeStep("weigh"), Where: `workflow = "weighed"`})
		if err != nil || len(list) != bulk.PreviewMax {
			e.Fatalf("a preview of %d runs, %v, want %d", len(list), err, bulk.PreviewMax)
		}
		for i, w := range list {
			want := [][]journal.RunID{without, with}[i%2][i/2]
			switch {
			case w.Run != want:
				e.Errorf("place %d has run %s, want %s", i, w.Run, want)
			case i%2 == 0 && (w.Back != nil || !strings.Contains(w.Error, "weigh")), i%2 == 1 && (w.Error != "" || len(w.Back.Steps) != 1):
				e.Errorf("place %d: %+v", i, w)
			}
		}
		id := with[14]
		if err := runtime.Signal(ctx, c, id, moved, "x", nil); err != nil {
			e.Fatal(err)
		}
		synctest.Wait()
		one := fmt.Sprintf("id = %q", id)
		for _, job := range []bulk.Job{
			{Verb: bulk.Skip, Message: "moved", Where: one},
			{Verb: bulk.Fork, To: runtime.RunStart, NoMessages: true, Where: one},
		} {
			list, err = bulk.Preview(ctx, c, nil, job)
			if err != nil || len(list) != 1 || list[0].Back == nil || len(list[0].Back.Messages) != 1 || list[0].Back.Messages[0].Fate != runtime.MessageDropped {
				e.Errorf("a preview of %s: %+v, %v", job.Verb, list, err)
			}
		}
		if list, err := bulk.Preview(ctx, c, nil, bulk.Job{Verb: bulk.Pause, All: true}); err != nil || len(list) != 0 {
			e.Errorf("a preview of pause: %v, %v", list, err)
		}
		wantFound(e, c, `workflow = "weighed" and status = open and generation = 1`, 30)
		if after := auditOf(e, c, ""); len(after) != len(before) {
			e.Errorf("the audit has %d entries, had %d", len(after), len(before))
		}
	})
}
