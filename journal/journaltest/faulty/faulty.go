package faulty

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Fault is what becomes of a call. In all cases but None the caller is told ErrUnavailable and
// nothing else, but see Options.TookLong.
type Fault int

// The faults.
const (
	None    Fault = iota
	Before        // the store never hears of the call
	After         // the call happened, the answer is lost
	Unknown       // the call is still on its way: it happens behind the caller's next call, often its own repetition
	Again         // the call happened, the answer is lost, and after Options.Delay the call happens once more
	Delayed       // the call happens after Options.Delay, whatever its caller has done by then
)

var faultNames = [...]string{"none", "before", "after", "unknown", "again", "delayed"}

// String returns the fault in lower case.
func (f Fault) String() string { return faultNames[f] }

// Call is a call of a store, or of a membership of it.
type Call struct {
	// Verb is "start", "send", "claim", "commit", "load", "list", "ends", "admin", "audit", "join",
	// "nodes", "begin", "renew", "look", "ask", "owned", "release", "reap" or "leave".
	Verb    string
	Nth     int            // its number among those of its verb, from 1
	Total   int            // its number among all, from 1
	Members int            // of a batch; else 1
	Node    journal.NodeID // whose call it is, if it says so
}

// Options of a Store. The zero value makes no faults.
type Options struct {
	// Decide chooses what becomes of a call. It may wait, which makes the call a slow one.
	Decide func(Call) Fault
	// Answer is called behind a call that reached the store, ahead of its answer. It may wait.
	Answer func(Call)
	// Delay is how long a call with the fault Again or Delayed is on its way. By default it arrives
	// at once, beside its caller.
	Delay func(Call) time.Duration
	// TookLong tells of a call that fails whether its caller is told that it took too long, so that
	// a call of several members is divided and not repeated, see driver.ErrTookLong. By default
	// none did.
	TookLong func(Call) bool
	// Held tells of a member of an impatient Start, Send or Commit, whose run is known, whether
	// somebody else holds what it needs; it gets driver.ErrHeld then, and the store never hears of
	// it. By default nobody does.
	Held func(c Call, member int, run journal.RunID) bool
	// Unreadable tells whether the attempts of a run cannot be read in the answers to Claim, Load
	// and List, as if a newer release had written them. They stay as they are in the store. By
	// default everything can be read.
	Unreadable func(run journal.RunID) bool
	// Hint returns after which delays a hint is sent, once for each: none loses it, two double it.
	// By default every hint is sent at once.
	Hint func(driver.Hint) []time.Duration
}

// Store is a store whose calls fail as its options say. A step's commit inside a transaction knows
// Before only: as the stores do, it rolls back and says ErrTxLost. Its methods may be called from
// many goroutines.
type Store struct {
	store driver.Store
	o     Options

	mu     sync.Mutex // guards what follows
	counts map[string]int
	total  int
	faults int
	late   []func() // calls that are still in flight
}

var (
	_ driver.Store   = (*Store)(nil)
	_ driver.TxStore = (*Store)(nil)
)

// New wraps a store, which stays the caller's to close. o may be nil.
func New(s driver.Store, o *Options) *Store {
	f := &Store{store: s, counts: map[string]int{}}
	if o != nil {
		f.o = *o
	}
	return f
}

// OnNth returns a Decide that lets the n-th call, from 1, of some verbs fail; of all verbs if none
// is named.
func OnNth(n int, fault Fault, verbs ...string) func(Call) Fault {
	var mu sync.Mutex
	seen := 0
	return func(c Call) Fault {
		if len(verbs) > 0 && !slices.Contains(verbs, c.Verb) {
			return None
		}
		mu.Lock()
		defer mu.Unlock()
		if seen++; seen == n {
			return fault
		}
		return None
	}
}

// Faults returns how many calls have failed.
func (f *Store) Faults() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.faults
}

// enter counts a call, decides over it, and returns the earlier calls that take effect after it.
func (f *Store) enter(c *Call) (fault Fault, late []func()) {
	f.mu.Lock()
	f.counts[c.Verb]++
	f.total++
	c.Nth, c.Total = f.counts[c.Verb], f.total
	f.mu.Unlock()
	if f.o.Decide != nil {
		fault = f.o.Decide(*c)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if fault != None {
		f.faults++
	}
	late, f.late = f.late, nil
	return fault, late
}

func happen(late []func()) {
	for _, fn := range late {
		fn()
	}
}

// call makes one call, which is do. It must not look at what the caller may change once it has its
// answer.
func call[T any](ctx context.Context, f *Store, c Call, do func(ctx context.Context) (T, error)) (answer T, err error) {
	return callOf(ctx, f, &c, do)
}

// callOf is call for a function that asks which call it is.
func callOf[T any](ctx context.Context, f *Store, c *Call, do func(ctx context.Context) (T, error)) (answer T, err error) {
	fault, late := f.enter(c)
	defer happen(late)
	var nothing T
	lost := fmt.Errorf("%w: %s number %d fails (%s)", journal.ErrUnavailable, c.Verb, c.Nth, fault)
	if fault != None && f.o.TookLong != nil && f.o.TookLong(*c) {
		lost = fmt.Errorf("%w: %w", driver.ErrTookLong, lost)
	}
	switch fault {
	case Before:
		return nothing, lost
	case Unknown:
		f.mu.Lock()
		defer f.mu.Unlock()
		f.late = append(f.late, func() { _, _ = do(context.WithoutCancel(ctx)) })
		return nothing, lost
	case Delayed:
		arrive(ctx, f, *c, do)
		return nothing, lost
	}
	answer, err = do(ctx)
	if f.o.Answer != nil {
		f.o.Answer(*c)
	}
	if fault == Again {
		arrive(ctx, f, *c, do)
	}
	if fault == After || fault == Again {
		return nothing, lost
	}
	return answer, err
}

// members makes a call without the members that somebody else holds up, which get refused.
func members[M, A any](
	ctx context.Context, f *Store, c *Call, list []M, run func(*M) journal.RunID, refused A, do func(ctx context.Context, list []M) ([]A, error),
) ([]A, error) {
	if f.o.Held == nil || !driver.IsImpatient(ctx) {
		return do(ctx, list)
	}
	var rest []M
	var at []int
	out := make([]A, len(list))
	for i := range list {
		if f.o.Held(*c, i, run(&list[i])) {
			out[i] = refused
			continue
		}
		rest, at = append(rest, list[i]), append(at, i)
	}
	if len(rest) == 0 {
		return out, nil
	}
	got, err := do(ctx, rest)
	for i := range got {
		out[at[i]] = got[i]
	}
	return out, err
}

// arrive lets a call happen that nobody waits for any more.
func arrive[T any](ctx context.Context, f *Store, c Call, do func(ctx context.Context) (T, error)) {
	var delay time.Duration
	if f.o.Delay != nil {
		delay = f.o.Delay(c)
	}
	ctx = context.WithValue(context.WithoutCancel(ctx), straggler{}, true)
	time.AfterFunc(delay, func() { _, _ = do(ctx) })
}

// straggler marks the context of a call that arrives behind its time.
type straggler struct{}

// Straggles tells a store, by the context of a call, that the call arrives when its caller has
// given it up, see Again and Delayed.
func Straggles(ctx context.Context) bool { return ctx.Value(straggler{}) != nil }

// hints delays, doubles and loses hints on their way out.
type hints struct {
	driver.Hints
	decide func(driver.Hint) []time.Duration
}

// Hints implements driver.Store.
func (f *Store) Hints() driver.Hints {
	if f.o.Hint == nil {
		return f.store.Hints()
	}
	return hints{f.store.Hints(), f.o.Hint}
}

// Notify implements driver.Hints.
func (h hints) Notify(list []driver.Hint) {
	for _, hint := range list {
		for _, delay := range h.decide(hint) {
			if delay > 0 {
				time.AfterFunc(delay, func() { h.Hints.Notify([]driver.Hint{hint}) })
			} else {
				h.Hints.Notify([]driver.Hint{hint})
			}
		}
	}
}
