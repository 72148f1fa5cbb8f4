package actor

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

// A warm run is current only if the task was freed in its very state: the same numbers do not prove
// that (J1).
func TestWarmByLink(t *testing.T) {
	bubble(t, func(o *Options) { o.PassivateAlways = false }, func(g *rig) {
		g.define("ears", func(ctx workflow.Context) (string, error) {
			return workflow.Signal[string]("word").Receive(ctx)
		})
		id := g.start("ears")
		g.store.mu.Lock()
		r := g.store.runs[id]
		ev := &r.events[0] // the store went back, and another node did the same turn a little later
		ev.Time = ev.Time.Add(time.Microsecond)
		ev.Link = ev.LinkAfter(r.origin())
		r.task.Link = ev.Link
		g.store.mu.Unlock()
		g.signal(id, "word", "hello")
		g.claim(id)
		g.wantSaid("replayed 1", 1)
		g.wantHistory(id, "RunStarted SignalReceived(word) RunCompleted")
	})
}

// How often a step was tried is what the claim says: another node may have tried the step since this
// one has, or the store went back to before that, and no event tells.
func TestWarmAttemptsAreTheStores(t *testing.T) {
	bubble(t, func(o *Options) { o.PassivateAlways = false }, func(g *rig) {
		var tried []int
		var saw []string
		g.define("again", func(ctx workflow.Context) (string, error) {
			return workflow.Step(ctx, "a", func(ctx context.Context) (string, error) {
				at, _ := workflow.StepInfo(ctx)
				beat, _ := workflow.LastHeartbeat[string](ctx)
				tried, saw = append(tried, at.Attempt), append(saw, beat)
				return "", workflow.RetryAfter(errors.Join(errors.New("not yet"), workflow.Heartbeat(ctx, "mine")), time.Second)
			}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 5}})
		})
		id := g.start("again")
		wait()
		beat, _ := g.store.Encode("beat", "another's")
		between := func(stored []journal.Attempt) {
			g.store.mu.Lock()
			task := g.store.runs[id].task
			task.Turn++ // the link stays: no event has come
			task.Attempts = stored
			g.store.mu.Unlock()
			g.wake(id)
		}
		between([]journal.Attempt{{Cmd: 1, Name: "a", Made: 3, NextAt: g.store.Now(), Heartbeat: &beat, Failure: &journal.Failure{Message: "not yet"}}})
		between(nil)
		between([]journal.Attempt{{Cmd: 1, Name: "a", Made: 4, NextAt: g.store.Now(), Failure: &journal.Failure{Message: "not yet"}}})
		if want := []int{1, 4, 1, 5}; !slices.Equal(tried, want) {
			t.Errorf("attempts %v were made, want %v", tried, want)
		}
		if want := []string{"", "another's", "", ""}; !slices.Equal(saw, want) {
			t.Errorf("the attempts saw the heartbeats %q, want %q", saw, want)
		}
		g.wantHistory(id, "RunStarted StepFailed(a) RunFailed")
		g.wantSaid("replayed", 0)
	})
}

// What a warm run knows of its inbox is what its events tell: a message that it has refused is in
// none, and the store that went back before that message has another one under its number.
func TestWarmInboxByEvents(t *testing.T) {
	bubble(t, func(o *Options) { o.PassivateAlways = false }, func(g *rig) {
		g.define("ears", func(ctx workflow.Context) (string, error) {
			return workflow.Signal[string]("word").Receive(ctx)
		})
		id := g.start("ears")
		g.store.mu.Lock()
		r := g.store.runs[id]
		before := *r.task
		r.task.InboxLast++
		r.inbox = append(r.inbox, journal.Message{Run: id, Number: r.task.InboxLast, Kind: journal.MessageUpdate, Name: "nobody", Time: time.Now()})
		r.task.VisibleAt = time.Now()
		g.store.mu.Unlock()
		g.claim(id)
		if now := g.task(id); now.Owner != 0 || now.Turn != before.Turn+1 || now.Link != before.Link {
			t.Fatalf("after the update the task is %+v, and was %+v", now, before)
		}
		g.store.mu.Lock()           // the store goes back
		before.Fence = r.task.Fence // each has chance in it
		*r.task, r.inbox, r.seen = before, nil, 0
		g.store.mu.Unlock()
		g.signal(id, "word", "hello")
		g.claim(id)
		g.wantHistory(id, "RunStarted SignalReceived(word) RunCompleted")
	})
}
