package gather_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/gather"
)

// TestSize: so many inputs start a batch at once, in their order; what is left waits for the time
// from its first input on; keys do not share batches.
func TestSize(t *testing.T) {
	bubble(t, func(r *rig) {
		mails := gather.Batch("mails", sum, gather.Rules{Size: 3, Wait: time.Minute})
		put(r, mails, "eu", from(1, 7)...)
		put(r, mails, "us", 10)
		put(r, mails, "", 20)
		r.Sleep(50 * time.Second)
		put(r, mails, "eu", 8)
		r.Sleep(20 * time.Second)
		put(r, mails, "eu", 9)
		r.Sleep(2 * time.Minute)
		r.want("mails", "eu", "1 2 3 @0s", "4 5 6 @0s", "7 8 @1m0s", "9 @2m10s")
		r.want("mails", "us", "10 @1m0s")
		r.want("mails", "", "20 @1m0s")
	})
}

// TestBytes: a batch has no more bytes than its rules say, and an input that would exceed them
// begins the next one.
func TestBytes(t *testing.T) {
	bubble(t, func(r *rig) {
		mails := gather.Batch("mails", sum, gather.Rules{Bytes: 5, Wait: time.Minute})
		put(r, mails, "", 111, 22, 3, 4, 55555)
		r.Sleep(2 * time.Minute)
		r.want("mails", "", "111 22 @0s", "3 4 @0s", "55555 @1m0s")
		if err := gather.Put(r.ctx, r.client, mails, "", 666666, nil); !errors.Is(err, journal.ErrInvalid) || !strings.Contains(err.Error(), "at most 5") {
			r.Errorf("an input that is too large: %v", err)
		}
	})
}

// TestQuiet: a batch and a debounced run start when no input has come for the quiet time, at the
// latest after ten of them, or after the time that the rules say.
func TestQuiet(t *testing.T) {
	bubble(t, func(r *rig) {
		index := gather.Debounce("index", echo, gather.Rules{Quiet: time.Second})
		lists := gather.Batch("lists", sum, gather.Rules{Quiet: time.Second, Wait: 3100 * time.Millisecond})
		for i := range 20 { // until 11.4 s
			put(r, index, "a", i)
			put(r, lists, "a", i)
			r.Sleep(600 * time.Millisecond)
		}
		r.Sleep(time.Minute)
		r.want("index", "a", "16 @10s", "19 @12.4s")
		r.want("lists", "a", "0 1 2 3 4 5 @3.1s", "6 7 8 9 10 11 @6.7s", "12 13 14 15 16 17 @10.3s", "18 19 @12.4s")
		put(r, index, "a", 20)
		r.Sleep(time.Minute)
		r.want("index", "a", "16 @10s", "19 @12.4s", "20 @1m13s")
	})
}

// TestDebounceBySize: a debounced run starts when so many inputs have come, counting those that it
// does not get.
func TestDebounceBySize(t *testing.T) {
	bubble(t, func(r *rig) {
		put(r, gather.Debounce("index", echo, gather.Rules{Quiet: time.Hour, Size: 3}), "", from(1, 7)...)
		r.Sleep(2 * time.Hour)
		r.want("index", "", "3 @0s", "6 @0s", "7 @1h0m0s")
	})
}

// TestLatest: one run of a key is open, and the last input that comes meanwhile is behind it.
func TestLatest(t *testing.T) {
	bubble(t, func(r *rig) {
		shops := gather.Latest("shops", slow, gather.Rules{})
		put(r, shops, "7", 1, 2, 3)
		put(r, shops, "8", 10)
		r.Sleep(5 * time.Second)
		put(r, shops, "7", 4, 5)
		r.Sleep(time.Minute)
		put(r, shops, "7", 6)
		r.Sleep(time.Minute)
		r.want("shops", "7", "1 @0s", "5 @10s", "6 @1m5s")
		r.want("shops", "8", "10 @0s")
	})
}

// TestNewRules: rules come with inputs. Those of the newest one hold, and inputs for another
// workflow do not join those that wait.
func TestNewRules(t *testing.T) {
	bubble(t, func(r *rig) {
		put(r, gather.Batch("mails", sum, gather.Rules{Size: 10, Wait: time.Minute}), "", 1)
		put(r, gather.Batch("mails", sum, gather.Rules{Size: 3, Wait: time.Minute}), "", 2, 3)
		put(r, gather.Batch("mails", sum, gather.Rules{Size: 10, Wait: time.Hour}), "", 4)
		put(r, gather.Batch("mails", sum, gather.Rules{Size: 10, Wait: time.Second}), "", 5)
		r.Sleep(10 * time.Second)
		put(r, gather.Batch("mails", sum, gather.Rules{Size: 10, Wait: time.Hour}), "", 6)
		put(r, gather.Batch("mails", sum2, gather.Rules{Size: 10, Wait: time.Hour}), "", 7)
		put(r, gather.Debounce("mails", echo, gather.Rules{Quiet: time.Second}), "", 8)
		r.Sleep(10 * time.Second)
		r.want("mails", "", "1 2 3 @0s", "4 5 @1s", "6 @10s", "2:7 @10s", "8 @11s")
	})
}

// TestRunOptions: the run of a batch is started as the rules say.
func TestRunOptions(t *testing.T) {
	bubble(t, func(r *rig) {
		put(r, gather.Batch("mails", sum, gather.Rules{
			Size: 1, Wait: time.Minute, Priority: 2, Labels: map[string]string{"kind": "mail"}, Timeout: time.Hour, OnFailure: "sorry",
		}), "eu", 1)
		r.Sleep(time.Second)
		run := batches(r, r.client, "mails", "eu")[0]
		if run.Labels["kind"] != "mail" || run.Timeout != time.Hour || run.OnFailure != "sorry" {
			r.Errorf("the batch's run is %+v", run)
		}
		put(r, gather.Batch("elsewhere", sum, gather.Rules{Size: 1, Wait: time.Minute, Queue: "mails", Version: 7, Priority: 2}), "eu", 1)
		r.Sleep(time.Second)
		run = batches(r, r.client, "elsewhere", "eu")[0]
		if run.Queue != "mails" || run.Version != 7 || run.Task.Priority != 2 {
			r.Errorf("the batch's run is %+v", run)
		}
	})
}

// TestRefused: what cannot be is refused before anything is stored, and the error says why.
func TestRefused(t *testing.T) {
	bubble(t, func(r *rig) {
		minute := gather.Rules{Wait: time.Minute}
		with := func(change func(*gather.Rules)) gather.Rules {
			rules := minute
			change(&rules)
			return rules
		}
		for why, to := range map[string]*gather.Collector[int, string]{
			"the name":                         gather.Batch("a:b", sum, minute),
			"from 1 to 100":                    gather.Batch(strings.Repeat("n", 101), sum, minute),
			"Wait or Quiet must be set":        gather.Batch("mails", sum, gather.Rules{Size: 3}),
			"Size is 10001":                    gather.Batch("mails", sum, with(func(r *gather.Rules) { r.Size = 10_001 })),
			"Size is -1":                       gather.Batch("mails", sum, with(func(r *gather.Rules) { r.Size = -1 })),
			"Bytes is 1048577":                 gather.Batch("mails", sum, with(func(r *gather.Rules) { r.Bytes = 1<<20 + 1 })),
			"Wait is -1s":                      gather.Batch("mails", sum, gather.Rules{Wait: -time.Second}),
			"Quiet is -1s":                     gather.Batch("mails", sum, with(func(r *gather.Rules) { r.Quiet = -time.Second })),
			"Quiet must be set":                gather.Debounce("index", echo, minute),
			"must not be set":                  gather.Latest("shops", slow, minute),
			"priority":                         gather.Batch("mails", sum, with(func(r *gather.Rules) { r.Priority = 9 })),
			`the label "gather"`:               gather.Batch("mails", sum, with(func(r *gather.Rules) { r.Labels = map[string]string{"gather": ""} })),
			"is of the runtime's own":          gather.Batch("mails", workflow.Name[[]int, string]("reprise.bulk"), minute),
			"workflow \"reprise.x\" is of the": gather.Batch("mails", sum, with(func(r *gather.Rules) { r.OnFailure = "reprise.x" })),
		} {
			if err := gather.Put(r.ctx, r.client, to, "", 1, nil); !errors.Is(err, journal.ErrInvalid) || !strings.Contains(err.Error(), why) {
				r.Errorf("Put says %v, want %q", err, why)
			}
			if _, err := gather.Add(r.ctx, r.client, to, "", 1, nil); !errors.Is(err, journal.ErrInvalid) {
				r.Errorf("Add says %v, want %q", err, why)
			}
		}
		mails := gather.Batch("mails", sum, minute)
		for _, key := range []string{strings.Repeat("k", 201), "a\nb", "\xff"} {
			if err := gather.Put(r.ctx, r.client, mails, key, 1, nil); !errors.Is(err, journal.ErrInvalid) {
				r.Errorf("key %q: %v", key, err)
			}
		}
		odd := gather.Batch("odd", workflow.Name[[]chan int, string]("odd"), minute)
		if err := gather.Put(r.ctx, r.client, odd, "", nil, nil); !errors.Is(err, journal.ErrInvalid) {
			r.Errorf("an input without JSON: %v", err)
		}
		if page, err := r.client.List(r.ctx, journal.ListFilter{}); err != nil || len(page.Runs) != 0 {
			r.Errorf("there are %d runs, %v", len(page.Runs), err)
		}
	})
}
