package schedule

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// Pause keeps a schedule from starting runs until somebody resumes it. Runs that are open go on,
// what waits for their end is left out, and slots that come meanwhile do not run, not even later.
// Trigger and Backfill work as ever. reason is for people; [Info] has it.
//
// Errors: journal.ErrNotFound; journal.ErrInvalid for what is no id; those of runtime.Signal.
func Pause(ctx context.Context, c *runtime.Client, id, reason string) error {
	return tell(ctx, c, id, order{Verb: pause, Reason: clip(fmt.Sprintf("by %s: %s", c.Actor(ctx), reason))}, "", nil)
}

// Resume ends a pause, whoever has made it. Slots begin now. Errors are those of [Pause].
func Resume(ctx context.Context, c *runtime.Client, id string) error {
	return tell(ctx, c, id, order{Verb: resume}, "", nil)
}

// TriggerOptions of a trigger. The zero value means the defaults.
type TriggerOptions struct {
	// Key makes the trigger idempotent: a second one with it does nothing. Default a new one.
	Key string
	// Overlap is what happens if a run of the schedule is open; default the schedule's policy.
	Overlap Overlap
	// Tx triggers exactly if and when this transaction commits.
	Tx journal.Tx
}

// Trigger starts a run of a schedule now, whatever its slots are and whether it is paused, and
// returns the key that the run gets, for runtime.Client.FindKey. A run that the overlap policy
// leaves out never exists. o may be nil. Errors are those of [Pause].
func Trigger(ctx context.Context, c *runtime.Client, id string, o *TriggerOptions) (key string, err error) {
	if o == nil {
		o = &TriggerOptions{}
	}
	t := order{Verb: trigger, Key: o.Key, Overlap: o.Overlap}
	if t.Key == "" {
		t.Key = journal.NewRunID().String()
	}
	if o.Overlap != "" && !o.Overlap.known() {
		return "", fmt.Errorf("trigger schedule %q: overlap %q is none: %w", id, o.Overlap, journal.ErrInvalid)
	}
	set, n := Split(id)
	key = keyOfTrigger(idOf(set, n), t.Key)
	if err := journal.CheckKey("key", key); err != nil {
		return "", fmt.Errorf("trigger schedule %q: %w", id, err)
	}
	return key, tell(ctx, c, id, t, "trigger:"+t.Key, o.Tx)
}

// BackfillOptions of a backfill. The zero value means the defaults.
type BackfillOptions struct {
	// AtOnce starts the runs side by side, 100 a second; else one starts when the one before has
	// ended.
	AtOnce bool
	// Tx makes the backfill exactly if and when this transaction commits.
	Tx journal.Tx
}

// Backfill starts the runs of all slots from a moment to another one, both included, by the spec
// that the schedule has now; its bounds From and Until do not count. A slot that has a run which is
// open or has completed is left as it is, so a backfill may be repeated. Slots of the schedule that
// come meanwhile run beside it. A schedule has at most 10 backfills at a time, further ones do
// nothing. o may be nil.
//
// Errors: journal.ErrInvalid for a range that ends before it begins, or in the future; those of
// [Pause].
func Backfill(ctx context.Context, c *runtime.Client, id string, from, to time.Time, o *BackfillOptions) error {
	if o == nil {
		o = &BackfillOptions{}
	}
	if to.Before(from) || to.After(time.Now()) {
		return fmt.Errorf("backfill schedule %q: from %s to %s: the range must end behind its beginning, and by now: %w",
			id, from.Format(time.RFC3339), to.Format(time.RFC3339), journal.ErrInvalid)
	}
	b := order{Verb: fillBack, From: from.UTC(), To: to.UTC()}
	if o.AtOnce {
		b.Overlap = Allow
	}
	return tell(ctx, c, id, b, "", o.Tx)
}

// tell sends an order to a schedule.
func tell(ctx context.Context, c *runtime.Client, id string, o order, key string, tx journal.Tx) error {
	found, err := Get(ctx, c, id)
	if err != nil {
		return err
	}
	o.Actor = c.Actor(ctx)
	if err := runtime.Signal(ctx, c, found.Run, orders, o, &runtime.SignalOptions{Key: key, Tx: tx}); err != nil {
		return fmt.Errorf("%s schedule %q: %w", o.Verb, id, err)
	}
	return nil
}
