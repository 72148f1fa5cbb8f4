package replay_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// shown are the published values of a decision.
func shown(d replay.Decision) string {
	var list []string
	for _, p := range d.Published {
		list = append(list, p.Name+"="+string(p.Value.Data))
	}
	return strings.Join(list, " ")
}

// TestPublish: a decision has all that the run has published, if the turn changed any of it; the
// history has none of it, and replay publishes nothing.
func TestPublish(t *testing.T) {
	def := define(func(c ctx) (string, error) {
		workflow.Publish(c, "b", 0)
		for i := 1; ; i++ {
			v, err := approved.Receive(c)
			if err != nil || v == "end" {
				workflow.Publish(c, "a", "over")
				return "", err
			}
			if v != "quiet" {
				workflow.Publish(c, "b", -i)
				workflow.Publish(c, "b", i)
				workflow.Publish(c, "c", v)
			}
		}
	})
	r := newRig(def)
	defer r.m.Close()
	r.m.SetShown([]journal.Published{{Name: "before", Value: journal.Payload{Data: []byte("1")}}}, nil)
	var got []string
	mustStep(t, r, started())
	first := r.m.Take() // a commit may hold it still, when the next turn is taken
	got = append(got, shown(first))
	for n, v := range []string{"x", "quiet", "end"} {
		mustStep(t, r, signalOf(journal.InboxSeq(n+1), "approved", fmt.Sprintf("%q", v)))
		got = append(got, shown(r.m.Take()))
	}
	want := []string{"b=0 before=1", `b=1 before=1 c="x"`, "", `a="over" b=1 before=1 c="x"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if again := shown(first); again != got[0] {
		t.Errorf("a decision has changed afterwards, from %s to %s", got[0], again)
	}
	for _, ev := range r.history {
		if len(ev.Issued) > 0 {
			t.Errorf("event %d issued %v", ev.Seq, ev.Issued)
		}
	}
	checkPrefixes(t, def, r.history)

	again := newRig(def)
	defer again.m.Close()
	again.m.SetShown([]journal.Published{{Name: "b", Value: journal.Payload{Data: []byte("2")}}}, nil)
	for i := range r.history[:3] {
		if err := again.m.Replay(&r.history[i]); err != nil {
			t.Fatal(err)
		}
	}
	if got := shown(again.m.Take()); got != "" {
		t.Errorf("a replay publishes %s", got)
	}
	mustStep(t, again, signalOf(3, "approved", `"end"`))
	if got := shown(again.m.Take()); got != `a="over" b=2` {
		t.Errorf("after a replay: %s", got)
	}
}

// TestPublishLimits: too many names, too many bytes, and a value that cannot be encoded stop the
// machine with the line; so the run waits for better code, and nothing else is lost.
func TestPublishLimits(t *testing.T) {
	long := strings.Repeat("x", journal.PublishedBytesMax/30)
	for name, c := range map[string]struct {
		code func(ctx)
		want string
	}{
		"names": {func(c ctx) {
			for i := range journal.PublishedMax + 1 {
				workflow.Publish(c, fmt.Sprint("name ", i), i)
			}
		}, "names that the run has published: 33 exceeds the limit of 32"},
		"bytes": {func(c ctx) {
			for i := range 31 {
				workflow.Publish(c, fmt.Sprint(i), long)
			}
		}, "exceeds the limit of 16384"},
		"encoding": {func(c ctx) { workflow.Publish(c, "chan", make(chan int)) }, "published value chan"},
	} {
		r := newRig(define(func(x ctx) (string, error) { c.code(x); return "", nil }))
		_, err := r.step(started())
		if !errors.Is(err, journal.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if name != "encoding" && !strings.Contains(err.Error(), "publish_test.go") {
			t.Errorf("%s: no line: %v", name, err)
		}
		r.m.Close()
	}
	r := newRig(define(func(c ctx) (string, error) {
		for range 2 * journal.PublishedMax { // one name counts once
			workflow.Publish(c, "same", strings.Repeat("x", 900))
		}
		return "", nil
	}))
	defer r.m.Close()
	mustStep(t, r, started())
}

// TestPublishIsRefused in code that may only read, and with a name that no journal takes.
func TestPublishIsRefused(t *testing.T) {
	r := newRig(define(func(c ctx) (string, error) {
		sumOf.Handle(c, func(int) (int, error) { workflow.Publish(c, "x", 1); return 1, nil })
		func() {
			defer func() {
				if err, _ := recover().(error); !errors.Is(err, journal.ErrInvalid) {
					t.Errorf("an empty name: %v", err)
				}
			}()
			workflow.Publish(c, "", 1)
		}()
		return approved.Receive(c)
	}))
	defer r.m.Close()
	mustStep(t, r, started())
	_, err := r.m.Query("sum", journal.Payload{Data: []byte("1")})
	if !errors.Is(err, workflow.ErrReadOnly) || !strings.Contains(err.Error(), "workflow.Publish called by code that may only read") {
		t.Errorf("got %v", err)
	}
	if got := shown(r.m.Take()); got != "" {
		t.Errorf("a query has published %s", got)
	}
}
