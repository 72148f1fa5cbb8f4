package faulty

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
)

// TestArrivesLater: a call that was given up happens after its time, once more if it had happened, and
// says that it straggles.
func TestArrivesLater(t *testing.T) {
	t.Parallel()
	for fault, want := range map[Fault]string{Again: "start, start late", Delayed: "start late"} {
		synctest.Test(t, func(t *testing.T) {
			s := &listed{Store: memory.New(nil)}
			f := New(s, &Options{Decide: OnNth(1, fault), Delay: func(Call) time.Duration { return time.Second }})
			if _, err := f.Start(t.Context(), nil, []journal.Start{{ID: journal.NewRunID(), Workflow: "w", Priority: 3}}); !errors.Is(err, journal.ErrUnavailable) {
				t.Errorf("%s: %v", fault, err)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			if got := strings.Join(s.calls, ", "); got != want {
				t.Errorf("%s: %q, want %q", fault, got, want)
			}
			if n := len(s.Snapshot().Runs); n != 1 {
				t.Errorf("%s: %d runs", fault, n)
			}
		})
	}
}

// listed lists the starts that reach it.
type listed struct {
	*memory.Store
	calls []string
}

// Start implements driver.Store.
func (l *listed) Start(ctx context.Context, tx journal.Tx, starts []journal.Start) ([]journal.Started, error) {
	name := "start"
	if Straggles(ctx) {
		name += " late"
	}
	l.calls = append(l.calls, name)
	return l.Store.Start(ctx, tx, starts)
}

// TestFailsTheNthCall: what happened of a call that failed, at once and behind the next one.
func TestFailsTheNthCall(t *testing.T) {
	t.Parallel()
	for fault, want := range map[Fault][2]int{None: {1, 2}, Before: {0, 1}, After: {1, 2}, Unknown: {0, 2}} {
		m := memory.New(nil)
		f := New(m, &Options{Decide: OnNth(2, fault, "start", "send")})
		start := func() error {
			_, err := f.Start(t.Context(), nil, []journal.Start{{ID: journal.NewRunID(), Workflow: "w", Priority: 3}})
			return err
		}
		if _, err := f.Send(t.Context(), nil, nil); err != nil { // the first that matches
			t.Fatal(err)
		}
		if _, err := f.Nodes(t.Context()); err != nil { // matches nothing
			t.Fatal(err)
		}
		for i, runs := range want {
			err := start()
			if failed := i == 0 && fault != None; failed != errors.Is(err, journal.ErrUnavailable) {
				t.Errorf("%s: start %d: %v", fault, i, err)
			}
			if got := len(m.Snapshot().Runs); got != runs {
				t.Errorf("%s: %d runs after start %d, want %d", fault, got, i, runs)
			}
		}
	}
}

func TestTellsOfCalls(t *testing.T) {
	t.Parallel()
	var decided, answered []Call
	f := New(memory.New(nil), &Options{
		Decide: func(c Call) Fault {
			decided = append(decided, c)
			if c.Verb == "claim" && c.Nth == 1 {
				return Before
			}
			return None
		},
		Answer: func(c Call) { answered = append(answered, c) },
	})
	m, err := f.Join(t.Context(), journal.Node{Name: "n", Lease: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []error{journal.ErrUnavailable, nil} {
		if _, err := f.Claim(t.Context(), driver.ClaimRequest{Node: m.ID()}); !errors.Is(err, want) {
			t.Errorf("claim: %v, want %v", err, want)
		}
	}
	want := []Call{{"join", 1, 1, 1, 0}, {"claim", 1, 2, 1, m.ID()}, {"claim", 2, 3, 1, m.ID()}}
	if !slices.Equal(decided, want) || !slices.Equal(answered, []Call{want[0], want[2]}) || f.Faults() != 1 {
		t.Errorf("decided over %v, answered %v, %d faults", decided, answered, f.Faults())
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(nil)
		fates := map[driver.HintKind][]time.Duration{
			driver.HintTasks: nil, driver.HintInbox: {0}, driver.HintClosed: {0, time.Second}, driver.HintScan: {time.Hour},
		}
		f := New(m.Peer(), &Options{Hint: func(h driver.Hint) []time.Duration { return fates[h.Kind] }})
		ears := make(chan driver.HintKind, 10)
		var heard []driver.HintKind
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = m.Hints().Watch(ctx, func(h driver.Hint) { ears <- h.Kind }) }()
		if kind := <-ears; kind != driver.HintScan {
			t.Errorf("the first hint is %v", kind)
		}
		f.Hints().Notify([]driver.Hint{{Kind: driver.HintScan}, {Kind: driver.HintClosed}, {Kind: driver.HintTasks}, {Kind: driver.HintInbox}})
		want := []driver.HintKind{driver.HintClosed, driver.HintInbox, driver.HintClosed, driver.HintScan}
		for i, wait := range []time.Duration{0, time.Second, time.Hour} {
			time.Sleep(wait)
			synctest.Wait()
			for len(ears) > 0 {
				heard = append(heard, <-ears)
			}
			if n := i + 2; !slices.Equal(heard, want[:n]) {
				t.Errorf("after %s: heard %v, want %v", wait, heard, want[:n])
			}
		}
	})
}
