package replay_test

import (
	"context"
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

func updateOf(number journal.InboxSeq, arg string) journal.Event {
	return journal.Event{Kind: journal.UpdateReceived, Name: string(more), Inbox: number, Time: epoch, Payload: journal.Payload{Data: []byte(arg)}}
}

func signalOf(number journal.InboxSeq, name, v string) journal.Event {
	return journal.Event{Kind: journal.SignalReceived, Name: name, Inbox: number, Time: epoch, Payload: journal.Payload{Data: []byte(v)}}
}

// TestChildID: ids of children are part of histories that others have, so their form is frozen.
func TestChildID(t *testing.T) {
	r := newRig(define(func(c ctx) (string, error) {
		say(c, "%s", workflow.CallAsync(c, kidName, "", nil).ID())
		say(c, "%s", workflow.CallAsync(c, kidName, "", nil).ID())
		return approved.Receive(c)
	}))
	defer r.m.Close()
	mustStep(t, r, started())
	want := "019b7ca9-8c88-71df-b70d-58c28bb40319\n019b7ca9-8c88-70cd-89ea-e7c7ebe14b02\n"
	if got := r.said["said"]; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for i, st := range r.m.Take().Starts {
		if p := st.Parent; st.ID.String() != strings.Fields(want)[i] || p.Run != (journal.RunID{1, 2, 3}) || p.Generation != 1 || int(p.Cmd) != i+1 {
			t.Errorf("start %d: %+v, %+v", i, st, st.Parent)
		}
	}
}

// TestNotIssued: what is refused, or asked for in a cancelled scope, takes no number and starts
// nothing.
func TestNotIssued(t *testing.T) {
	r := newRig(define(func(c ctx) (string, error) {
		child, cancel := workflow.WithCancel(c)
		cancel()
		kid := workflow.CallAsync(child, kidName, "", nil)
		_, err := kid.Get(c)
		say(c, "%s %v %v", kid.ID(), err, kid.Cancel())
		for _, o := range []workflow.ChildOptions{{OnCancel: 9}, {OnParentClose: 9}, {Priority: 99}, {Key: "\n"}, {Delay: -1}} {
			if kid := workflow.CallAsync(c, kidName, "", &o); kid.ID() != (workflow.RunID{}) || kid.Cancel() || !kid.Ready() {
				say(c, "%+v started %s", o, kid.ID())
			}
		}
		say(c, "%v", number.Send(child, somebody, 1))
		say(c, "%v", workflow.CancelRun(child, somebody, ""))
		say(c, "%v", workflow.Signal[chan int]("x").Send(c, somebody, nil) != nil)
		say(c, "%v", workflow.Signal[int]("").Send(c, somebody, 1) != nil)
		return approved.Receive(c)
	}))
	defer r.m.Close()
	mustStep(t, r, started())
	want := "00000000-0000-0000-0000-000000000000 cancelled false\ncancelled\ncancelled\ntrue\ntrue\n"
	if diff := cmp.Diff(want, r.said["said"]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if d := r.m.Take(); len(r.history[0].Issued)+len(d.Starts)+len(d.Messages) != 0 {
		t.Errorf("issued %v, %+v", r.history[0].Issued, d)
	}
}

// TestWhileUnwinding: deferred calls that run because the run is over ask for nothing any more.
func TestWhileUnwinding(t *testing.T) {
	r := newRig(define(func(c ctx) (string, error) {
		for i, verb := range []func(){
			func() { workflow.CallAsync(c, kidName, "", nil) },
			func() { number.SendAsync(c, somebody, 1) },
			func() { workflow.SideEffect(c, "x", func() int { panic("not called") }) },
			func() { workflow.Changed(c, "x") },
			func() { c.ShouldContinue() },
			func() { _ = workflow.HandlersFinished(c) },
			func() { more.Handle(c, nil, nil); sumOf.Handle(c, nil) },
		} {
			workflow.Go(c, func(c ctx) {
				defer say(c, "%d", i)
				defer verb()
				_, _ = stop.Receive(c)
			})
		}
		return approved.Receive(c)
	}))
	defer r.m.Close()
	mustStep(t, r, started())
	mustStep(t, r, signalOf(1, "approved", `"x"`))
	d := r.m.Take()
	if len(r.history[1].Issued)+len(d.Starts)+len(d.Messages) != 0 || d.Terminal == nil || d.Terminal.Kind != journal.RunCompleted {
		t.Errorf("issued %v, %+v", r.history[1].Issued, d)
	}
}

// TestSideEffectFails: a function that panics, calls verbs or returns what cannot be stored stops
// the machine, and leaves nothing.
func TestSideEffectFails(t *testing.T) {
	for name, fn := range map[string]func(ctx){
		"panic": func(c ctx) { workflow.SideEffect(c, "x", func() int { panic("no") }) },
		"verb": func(c ctx) {
			workflow.SideEffect(c, "x", func() int { return workflow.SideEffect(c, "y", func() int { return 1 }) })
		},
		"encode": func(c ctx) { workflow.SideEffect(c, "x", func() chan int { return nil }) },
		"size":   func(c ctx) { workflow.SideEffect(c, "x", func() string { return strings.Repeat("x", 2<<10) }) },
		"name":   func(c ctx) { workflow.SideEffect(c, "", func() int { return 1 }) },
		"change": func(c ctx) { workflow.Changed(c, "a\tb") },
	} {
		r := newRig(define(func(c ctx) (string, error) {
			fn(c)
			say(c, "goes on")
			return "", nil
		}))
		ev := started()
		ev.Seq = 1
		if err := r.m.Step(&ev); err == nil || !r.m.Closed() || len(ev.Issued) > 0 || r.said["said"] != "" {
			t.Errorf("%s: error %v, issued %v, said %q", name, err, ev.Issued, r.said["said"])
		}
		r.m.Close()
	}
}

// TestGenerationEnds: RunContinued seals a history as the events do that close a run.
func TestGenerationEnds(t *testing.T) {
	r := newRig(workflows["generations"])
	defer r.m.Close()
	mustStep(t, r, started())
	r.m.Take()
	mustStep(t, r, updateOf(1, "5"))
	mustStep(t, r, signalOf(2, "number", "1"))
	mustStep(t, r, journal.Event{Kind: journal.CancelRequested, Inbox: 3, Time: epoch})
	d := r.m.Take()
	if d.Terminal == nil || d.Terminal.Kind != journal.RunContinued || d.Continue == nil || len(d.Messages) != 1 || !d.Children {
		t.Fatalf("decision %+v", d)
	}
	want := &journal.Continue{Input: journal.Payload{Data: []byte(`"again"`)}, Version: 2, Seen: 3, Carried: []journal.InboxSeq{2, 3}}
	if diff := cmp.Diff(want, d.Continue); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(d.Replies) != 1 || d.Replies[0].Number != 1 || d.Replies[0].Rejected {
		t.Fatalf("the update that was accepted has the replies %+v", d.Replies)
	}
	if f, err := journal.DecodeFailure(d.Replies[0].Payload); err != nil || f.Type != journal.FailureAborted || !strings.Contains(f.Message, "may have had effects") {
		t.Errorf("the update that was accepted is answered with %+v, %v", f, err)
	}
	ev := *d.Terminal
	ev.Time = epoch
	mustStep(t, r, ev)
	if !r.m.Closed() || !r.m.Finished() {
		t.Error("the machine takes more events")
	}
	if ev := signalOf(4, "number", "1"); r.m.Step(&ev) == nil {
		t.Error("an event behind the end is taken")
	}
	checkPrefixes(t, workflows["generations"], r.history)
	for _, other := range []journal.Kind{journal.RunCompleted, journal.RunFailed} {
		last := &r.history[len(r.history)-1]
		last.Kind, last.Link = other, 0
		if _, ok := errors.AsType[*replay.DivergenceError](replayErr(workflows["generations"], r.history)); !ok {
			t.Errorf("%s instead of RunContinued is taken", other)
		}
	}
}

// TestContinueElsewhere: the error of ContinueAsNew means something in the workflow's function
// only.
func TestContinueElsewhere(t *testing.T) {
	r := newRig(define(func(c ctx) (string, error) {
		same := workflow.Name[*void, string]("test")
		more.Handle(c, func(c ctx, n int) (int, error) { return 0, workflow.ContinueAsNew(c, same, nil, nil) }, nil)
		group, _ := workflow.NewGroup(c)
		group.Go(func(c ctx) error { return workflow.ContinueAsNew(c, same, nil, &workflow.ContinueOptions{Version: -1}) })
		say(c, "%v", group.Wait())
		say(c, "%v", workflow.ContinueAsNew(c, workflow.Name[chan int, int]("test"), nil, nil) != nil)
		if _, err := approved.Receive(c); err != nil {
			return "", err
		}
		return "", errors.Join(errors.New("tired"), workflow.ContinueAsNew(c, same, nil, nil))
	}))
	defer r.m.Close()
	mustStep(t, r, started())
	if want := "continue as new: version -1: versions start at 1, at verbs_test.go, calling workflow.ContinueAsNew\ntrue\n"; r.said["said"] != want {
		t.Errorf("said %s", r.said["said"])
	}
	mustStep(t, r, updateOf(1, "5"))
	if d := r.m.Take(); len(d.Replies) != 1 || d.Terminal != nil {
		t.Errorf("decision %+v", d)
	} else if f, err := journal.DecodeFailure(d.Replies[0].Payload); err != nil || !strings.Contains(f.Message, "to be returned by the workflow's function") {
		t.Errorf("reply %v, %v", f, err)
	}
	mustStep(t, r, signalOf(2, "approved", `""`))
	if d := r.m.Take(); d.Continue == nil || d.Continue.Version != 1 || d.Continue.Carried != nil || d.Children {
		t.Errorf("decision %+v", d)
	}
}

// TestCancelCarriedOnce: of two cancel requests the first is in effect, and is the one that goes
// on.
func TestCancelCarriedOnce(t *testing.T) {
	r := newRig(define(func(c ctx) (string, error) {
		_ = workflow.Sleep(c, time.Hour)
		_ = workflow.Sleep(workflow.Shield(c), time.Hour)
		return "", workflow.ContinueAsNew(c, workflow.Name[*void, string]("test"), nil, nil)
	}))
	defer r.m.Close()
	mustStep(t, r, started())
	mustStep(t, r, journal.Event{Kind: journal.CancelRequested, Inbox: 1, Time: epoch})
	mustStep(t, r, journal.Event{Kind: journal.CancelRequested, Inbox: 2, Time: epoch})
	mustStep(t, r, journal.Event{Kind: journal.TimerFired, Cmd: 3, Time: epoch.Add(time.Hour)})
	if d := r.m.Take(); d.Continue == nil || !cmp.Equal(d.Continue.Carried, []journal.InboxSeq{1}) || d.Continue.Seen != 2 {
		t.Errorf("decision %+v, continue %+v", d, d.Continue)
	}
}

// TestAskedAtRest: queries and validators are answered at rest and after the end, not by a dead
// machine, and cannot harm it.
func TestAskedAtRest(t *testing.T) {
	var kept ctx
	var future workflow.Future[int]
	r := newRig(define(func(c ctx) (string, error) {
		kept = c
		future = workflow.StepAsync(c, "count", func(context.Context) (int, error) { return 1, nil }, nil)
		sumOf.Handle(c, func(int) (int, error) {
			_, err := future.Get(kept)
			return 1, err
		})
		more.Handle(c, func(_ ctx, n int) (int, error) { return n, nil }, nil)
		return approved.Receive(c)
	}))
	arg := journal.Payload{Data: []byte("1")}
	if _, err := r.m.Query("sum", arg); !errors.Is(err, replay.ErrNoHandler) {
		t.Errorf("before the start: %v", err)
	}
	mustStep(t, r, started())
	bad := completed(1, "count", `"no number"`)
	bad.Time = epoch
	mustStep(t, r, bad)
	if _, err := r.m.Query("sum", arg); !errors.Is(err, workflow.ErrReadOnly) || r.m.Closed() {
		t.Errorf("a query that waits: %v", err)
	}
	if v := caught(func() { r.m.Env().ReadOnly(func() { r.m.Env().Abort(errors.New("no")) }) }); v == nil || r.m.Closed() {
		t.Errorf("who looks ends the machine: %v", v)
	}
	if err := r.m.CheckUpdate("more", arg); err != nil {
		t.Error(err)
	}
	mustStep(t, r, signalOf(1, "approved", `"x"`))
	if err := r.m.CheckUpdate("more", arg); !errors.Is(err, replay.ErrFinished) {
		t.Errorf("update after the end: %v", err)
	}
	r.m.Close()
	if _, err := r.m.Query("sum", arg); !errors.Is(err, replay.ErrClosed) {
		t.Errorf("a dead machine answers: %v", err)
	}
	if err := r.m.CheckUpdate("more", arg); !errors.Is(err, replay.ErrClosed) {
		t.Errorf("a dead machine accepts: %v", err)
	}
}

// TestHandlersReplaced: the newest handler of a name answers; updates that run keep theirs.
func TestHandlersReplaced(t *testing.T) {
	r := newRig(define(func(c ctx) (string, error) {
		for i := 1; ; i++ {
			more.Handle(c, func(c ctx, n int) (int, error) { return n * i, workflow.Sleep(c, time.Minute) }, nil)
			sumOf.Handle(c, func(int) (int, error) { return i, nil })
			if _, err := stop.Receive(c); err != nil {
				return "", err
			}
		}
	}))
	defer r.m.Close()
	mustStep(t, r, started())
	mustStep(t, r, updateOf(1, "10"))
	mustStep(t, r, signalOf(2, "stop", "{}"))
	mustStep(t, r, updateOf(3, "10"))
	if answer, err := r.m.Query("sum", journal.Payload{Data: []byte("0")}); string(answer.Data) != "2" || err != nil {
		t.Errorf("answer %s, %v", answer.Data, err)
	}
	for i, want := range []string{"10", "20"} {
		r.m.Take()
		mustStep(t, r, journal.Event{Kind: journal.TimerFired, Cmd: journal.Cmd(i + 1), Time: epoch.Add(time.Minute)})
		if d := r.m.Take(); len(d.Replies) != 1 || string(d.Replies[0].Payload.Data) != want {
			t.Errorf("replies %+v", d.Replies)
		}
	}
	if r.m.Env().UpdatesRunning() != 0 {
		t.Errorf("%d updates run", r.m.Env().UpdatesRunning())
	}
}

// TestUnknownCommand: lines that this release cannot know are told as they are.
func TestUnknownCommand(t *testing.T) {
	r := newRig(workflows["order"])
	mustStep(t, r, started())
	r.m.Close()
	r.history[0].Issued[0].Kind, r.history[0].Link = 99, 0
	err := replayErr(workflows["order"], r.history)
	if d, ok := errors.AsType[*replay.DivergenceError](err); !ok || !strings.Contains(d.Want, "99") || d.Got != "step reserve" {
		t.Errorf("error %v", err)
	}
}

// TestManyUpdates: each has its own reply, in the order in which they end.
func TestManyUpdates(t *testing.T) {
	r := newRig(workflows["sums"])
	defer r.m.Close()
	mustStep(t, r, started())
	for n := range journal.InboxSeq(50) {
		mustStep(t, r, updateOf(n+1, fmt.Sprint(11+n%2)))
	}
	if r.m.Env().UpdatesRunning() == 0 || len(r.m.Take().Replies) != 0 {
		t.Error("updates are answered too early")
	}
	got := map[journal.InboxSeq]bool{}
	for timer, ok := r.m.NextTimer(); ok; timer, ok = r.m.NextTimer() {
		mustStep(t, r, journal.Event{Kind: journal.TimerFired, Cmd: timer.Cmd, Time: timer.Due})
		for _, reply := range r.m.Take().Replies {
			if got[reply.Number] {
				t.Errorf("update %d has two replies", reply.Number)
			}
			got[reply.Number] = true
		}
	}
	if len(got) != 50 || r.m.Env().UpdatesRunning() != 0 {
		t.Errorf("%d replies, %d run", len(got), r.m.Env().UpdatesRunning())
	}
}
