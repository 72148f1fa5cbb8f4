package gather

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// keeper is the code of a collector's run. What it starts, and that the inputs of that are gone
// from its state, is decided in one turn, so a batch is never started twice and never in part.
//
// Nothing in it waits between taking an input and starting what that makes due, so the strands of
// updates and the loop need no lock.
type keeper struct {
	state
	client *runtime.Client
	safe   workflow.Context // is not cancelled with the run
	bytes  int              // of Pending
	batch  *workflow.Promise[receipt]
	left   bool // the generation ends: nobody may wait any more
	woken  *workflow.Promise[none]

	timer   workflow.Timer
	timerAt time.Time // zero if there is no timer

	open      workflow.Child[ignored] // the run Open, if this generation has started it
	carried   bool                    // an earlier one has: its end is not heard of
	lookAt    time.Time               // when to ask for it; zero before that is planned
	lookPause time.Duration
}

// ignored takes whatever a run returns.
type ignored struct{}

// UnmarshalJSON implements json.Unmarshaler.
func (*ignored) UnmarshalJSON([]byte) error { return nil }

// drain takes all signals that wait, in their order.
func (k *keeper) drain() error {
	for {
		got, err := workflow.Select(k.safe, workflow.OnSignal(inputs, func(it item) { k.take(&it) }), workflow.Default(nil))
		if got != 0 || err != nil {
			return err
		}
	}
}

// take adds an input to the next batch, and starts that if it is full. An input that does not fit,
// or whose run is another one, starts the batch before it.
func (k *keeper) take(it *item) (batch int64) {
	p := &it.Plan
	other := p.Workflow != k.Plan.Workflow || p.Mode != k.Plan.Mode
	if len(k.Pending) > 0 && (other || p.Mode == all && k.bytes+len(it.Input) > p.Bytes) {
		k.start()
	}
	if p.Mode != all {
		k.Pending, k.bytes = nil, 0
	}
	k.hear()
	now := k.safe.Now()
	if k.Count == 0 {
		k.First = now
	}
	k.Pending, k.bytes = append(k.Pending, it.Input), k.bytes+len(it.Input)
	k.Plan, k.Newest = *p, now
	k.Count++
	k.Inputs++
	batch = k.Batches + 1
	if k.due() {
		k.start()
	}
	return batch
}

// due tells whether the next batch is to start now.
func (k *keeper) due() bool {
	switch at := k.deadline(); {
	case len(k.Pending) == 0, k.Plan.Mode == latest && !k.Open.IsZero():
		return false
	case k.Plan.Size > 0 && k.Count >= k.Plan.Size, at.IsZero():
		return true
	default:
		return !k.safe.Now().Before(at)
	}
}

// deadline is when the next batch starts at the latest; zero for no time.
func (k *keeper) deadline() (at time.Time) {
	if k.Plan.Wait > 0 {
		at = k.First.Add(k.Plan.Wait)
	}
	if quiet := k.Newest.Add(k.Plan.Quiet); k.Plan.Quiet > 0 && (at.IsZero() || quiet.Before(at)) {
		at = quiet
	}
	return at
}

// start starts the run of the next batch, in the commit that takes its inputs out of the state. So
// no full limit may refuse it: the inputs would be gone.
func (k *keeper) start() {
	k.Batches++
	key := keyOfBatch(k.Name, k.Key, k.safe.Info().Run, k.Batches)
	st := k.Plan.start(k.Name, k.Key, key)
	o := workflow.ChildOptions{
		Key: key, Queue: st.Queue, Version: st.Version, Priority: st.Priority, Labels: st.Labels, Timeout: st.Timeout, OnFailure: st.OnFailure,
		Limits: st.Limits, OnParentClose: workflow.CloseAbandon, OnCancel: workflow.Abandon, BeyondBacklog: true,
	}
	var child workflow.Child[ignored]
	if k.Plan.Mode == all {
		child = workflow.CallAsync(k.safe, workflow.Name[[]json.RawMessage, ignored](st.Workflow), k.Pending, &o)
	} else {
		child = workflow.CallAsync(k.safe, workflow.Name[json.RawMessage, ignored](st.Workflow), k.Pending[0], &o)
	}
	if child.ID().IsZero() {
		// What Put has checked only a codec refuses, such as one that has no key on this machine.
		// So nothing of the turn is written, and the batch starts, late, when a node can.
		_, err := child.Get(k.safe)
		panic(fmt.Errorf("collector %q: batch %d cannot be started: %w", k.Name, k.Batches, err))
	}
	if k.Last = child.ID(); k.Plan.Mode == latest {
		k.Open, k.open, k.carried = k.Last, child, false
	}
	k.Pending, k.bytes, k.Count, k.First, k.Newest = nil, 0, 0, time.Time{}, time.Time{}
	if k.batch != nil {
		k.batch.Resolve(receipt{Batch: k.Batches, Run: k.Last})
		k.batch = nil
	}
	workflow.Publish(k.safe, Published, k.Info)
}

// join is an input whose sender waits for its run.
func (k *keeper) join(ctx workflow.Context, it item) (receipt, error) {
	if err := k.drain(); err != nil { // they came before
		return receipt{}, err
	}
	n := k.take(&it)
	k.wake()
	switch {
	case n <= k.Batches:
		return receipt{Batch: n, Run: k.Last}, nil
	case k.left:
		return receipt{Batch: n}, nil
	}
	if k.batch == nil {
		k.batch = workflow.NewPromise[receipt]()
	}
	return k.batch.Future().Get(ctx)
}

// wake has the loop look at the state, which an update has changed.
func (k *keeper) wake() {
	if k.woken != nil {
		k.woken.Resolve(none{})
	}
}

// leave lets everybody go who waits for the next batch.
func (k *keeper) leave() {
	k.left = true
	if k.batch != nil {
		k.batch.Resolve(receipt{Batch: k.Batches + 1})
		k.batch = nil
	}
}

// arm has the timer fire no later than the next moment at which something is to do. One that fires
// earlier stays, and is made anew then: inputs that put a batch off need no timer each.
func (k *keeper) arm() {
	at := k.lookAt
	if len(k.Pending) > 0 && k.Plan.Mode != latest {
		at = k.deadline()
	}
	if at.IsZero() || !k.timerAt.IsZero() && !k.timerAt.After(at) {
		return
	}
	if !k.timerAt.IsZero() {
		k.timer.Stop()
	}
	k.timerAt, k.timer = at, workflow.NewNamedTimer(k.safe, "batch", at.Sub(k.safe.Now()))
}

// hear forgets the run of a latest collector that has ended.
func (k *keeper) hear() {
	if !k.Open.IsZero() && !k.carried && k.open.Ready() {
		k.Open = workflow.RunID{}
	}
}

// look asks for the end of a run that an earlier generation has started, at a pace, while something
// waits for it.
func (k *keeper) look() error {
	if !k.carried || len(k.Pending) == 0 || k.Plan.Mode != latest {
		k.lookAt = time.Time{}
		return nil
	}
	now := k.safe.Now()
	if now.Before(k.lookAt) {
		return nil
	}
	run := k.Open
	open, err := workflow.Step(k.safe, "look", func(ctx context.Context) (bool, error) { return isOpen(ctx, k.client, run) }, patiently)
	if err != nil || run != k.Open {
		return err
	}
	if !open {
		k.Open, k.carried, k.lookAt = workflow.RunID{}, false, time.Time{}
		return nil
	}
	k.lookAt = k.safe.Now().Add(k.lookPause)
	k.lookPause = min(2*k.lookPause, lookMax)
	return nil
}
