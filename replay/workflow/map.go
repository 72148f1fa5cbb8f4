package workflow

import (
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/replay"
)

// MapOptions says how Map works on the items. Nil and zero fields mean the defaults.
type MapOptions struct {
	Limit    int           // how many items are worked on at once; default 100
	Attempts int           // how often fn is called for an item, in all; default 1: its steps have their own retries
	Backoff  time.Duration // wait before the second attempt, doubled for each one after, up to 100 s; default 1 s
	// CollectErrors goes on with the other items when one fails. By default the first error ends it
	// all.
	CollectErrors bool
}

// mapLimit is how many strands Map uses by default: enough to keep a node busy, and few beside
// those of other runs.
const mapLimit = 100

func (o *MapOptions) withDefaults() (MapOptions, error) {
	var c MapOptions
	if o != nil {
		c = *o
	}
	refuse := func(field string, v any) (MapOptions, error) {
		return c, invalid("map: option %s is %v: it must be positive, or 0 for the default", field, v)
	}
	switch {
	case c.Limit < 0:
		return refuse("Limit", c.Limit)
	case c.Attempts < 0:
		return refuse("Attempts", c.Attempts)
	case c.Backoff < 0:
		return refuse("Backoff", c.Backoff)
	}
	if c.Limit == 0 {
		c.Limit = mapLimit
	}
	if c.Backoff == 0 {
		c.Backoff = retryInitial
	}
	c.Attempts = max(c.Attempts, 1)
	return c, nil
}

// Map calls fn for each item, several at once, each call in a strand, and returns the results in
// the order of the items. At most o.Limit strands take one item after the other, in order, so a
// long list costs little more than its steps. o may be nil.
//
// By default the first error, by time, cancels the scope of the calls; Map waits for them and
// returns that error without results. With CollectErrors all items are worked on, and the errors
// come joined in the order of the items, beside the results, in which failed items are zero. An
// error names the item by its index. A call that failed is repeated as o says, unless its error
// is permanent (see [Permanent]) or its scope is cancelled.
//
// If ctx's scope is cancelled, Map begins no further item and waits for the calls that run.
// Unless all items are done by then, the scope's error is among the errors.
func Map[In, Out any](ctx Context, items []In, fn func(Context, In) (Out, error), o *MapOptions) ([]Out, error) {
	if _, err := ctx.inside(); err != nil {
		return nil, err
	}
	options, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	w := &mapping[In, Out]{o: options, items: items, fn: fn, out: make([]Out, len(items))}
	inner, cancel := WithCancel(ctx)
	defer cancel()
	w.cancel = cancel
	var all WaitGroup
	for range min(options.Limit, len(items)) {
		all.Go(inner, w.work)
	}
	if err := all.Wait(Shield(ctx)); err != nil {
		return nil, err
	}
	return w.result(ctx)
}

// mapping is a running Map.
type mapping[In, Out any] struct {
	o      MapOptions
	items  []In
	fn     func(Context, In) (Out, error)
	cancel func()

	next   int // the item to be begun next
	out    []Out
	first  error         // that ended it
	failed map[int]error // with CollectErrors
}

// work takes items until none are left.
func (w *mapping[In, Out]) work(ctx Context) {
	for w.next < len(w.items) && !ctx.Cancelled() {
		i := w.next
		w.next++
		v, err := w.call(ctx, w.items[i])
		switch {
		case err == nil:
			w.out[i] = v
		case w.o.CollectErrors:
			if w.failed == nil {
				w.failed = make(map[int]error)
			}
			w.failed[i] = err
		case w.first == nil:
			w.first = itemError(i, err)
			w.cancel()
		}
	}
}

func (w *mapping[In, Out]) call(ctx Context, item In) (Out, error) {
	wait := w.o.Backoff
	for attempt := 1; ; attempt++ {
		v, err := w.fn(ctx, item)
		if err == nil || attempt >= w.o.Attempts || ctx.Cancelled() || replay.FailureOf(err).Permanent {
			return v, err
		}
		if Sleep(ctx, wait) != nil {
			return v, err
		}
		wait = min(2*wait, max(retryMax, w.o.Backoff))
	}
}

func (w *mapping[In, Out]) result(ctx Context) ([]Out, error) {
	if w.first != nil {
		return nil, w.first
	}
	var errs []error
	for i := range w.items { // in their order; never that of a map
		if err := w.failed[i]; err != nil {
			errs = append(errs, itemError(i, err))
		}
	}
	if w.next < len(w.items) {
		errs = append(errs, ctx.Err())
	}
	if !w.o.CollectErrors && len(errs) > 0 {
		return nil, errs[0]
	}
	return w.out, errors.Join(errs...)
}

func itemError(i int, err error) error { return fmt.Errorf("item %d: %w", i, err) }
