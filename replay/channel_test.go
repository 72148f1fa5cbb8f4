package replay_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

func TestChannelOrder(t *testing.T) {
	for _, size := range []int{0, 1, 3} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			got := play(t, func(c ctx) (string, error) {
				ch := workflow.NewChannel[int](size, "c")
				workflow.Go(c, func(c ctx) {
					for i := range 5 {
						if err := ch.Send(c, i); err != nil {
							say(c, "send: %v", err)
						}
					}
					ch.Close()
				})
				text := ""
				for {
					v, ok, err := ch.Receive(c)
					if err != nil || !ok {
						return text, err
					}
					text += fmt.Sprint(v)
				}
			})
			want(t, got, `RunCompleted "01234"`)
		})
	}
}

// TestChannelWaitersAreServedInOrder, receivers and senders.
func TestChannelWaitersAreServedInOrder(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		ch := workflow.NewChannel[string](0, "c")
		for _, name := range []string{"a", "b", "c"} {
			workflow.Go(c, func(c ctx) {
				v, _, _ := ch.Receive(c)
				say(c, "%s got %s", name, v)
				_ = ch.Send(c, name+" again")
			})
		}
		nap(c, time.Second)
		for i := range 3 {
			_ = ch.Send(c, fmt.Sprint(i))
		}
		nap(c, time.Second)
		for range 3 {
			v, ok, err := ch.Receive(c)
			say(c, "%s, %v, %v", v, ok, err)
		}
		return "", nil
	}, fires, fires)
	want(t, got, "a got 0", "b got 1", "c got 2", "a again, true, <nil>", "b again, true, <nil>", "c again, true, <nil>", `RunCompleted ""`)
}

func TestChannelClosed(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		ch := workflow.NewChannel[int](2, "c")
		_ = errors.Join(ch.Send(c, 1), ch.Send(c, 2))
		workflow.Go(c, func(c ctx) { say(c, "blocked send: %v", ch.Send(c, 3)) })
		nap(c, time.Second)
		ch.Close()
		ch.Close()
		say(c, "send: %v, closed %v, len %d", ch.Send(c, 4), ch.Closed(), ch.Len())
		i, err := workflow.Select(c, workflow.OnSend(ch, 5, func() { t.Error("called") }))
		say(c, "select: %d, %v", i, err)
		for range 3 {
			v, ok, err := ch.Receive(c)
			say(c, "%d, %v, %v", v, ok, err)
		}
		_, err = workflow.Select(c, workflow.OnReceive(ch, func(v int, ok bool) { say(c, "select: %d, %v", v, ok) }))
		return "", err
	}, fires)
	want(t, got, "send: channel is closed, closed true, len 2", "select: 0, channel is closed", "1, true, <nil>", "2, true, <nil>",
		"0, false, <nil>", "select: 0, false", `RunCompleted ""`)
}

// TestChannelCloseWakes those who wait: receivers, senders and Selects.
func TestChannelCloseWakes(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		in, out := workflow.NewChannel[int](0, "in"), workflow.NewChannel[int](0, "out")
		var wg workflow.WaitGroup
		wg.Go(c, func(c ctx) {
			v, ok, err := in.Receive(c)
			say(c, "receive: %d, %v, %v", v, ok, err)
		})
		wg.Go(c, func(c ctx) { say(c, "send: %v", out.Send(c, 1)) })
		wg.Go(c, func(c ctx) {
			i, err := workflow.Select(c, workflow.OnReceive(in, func(v int, ok bool) { say(c, "case: %d, %v", v, ok) }))
			say(c, "select: %d, %v", i, err)
		})
		wg.Go(c, func(c ctx) {
			i, err := workflow.Select(c, workflow.OnReceive[int](nil, nil), workflow.OnSend(out, 1, nil))
			say(c, "select: %d, %v", i, err)
		})
		nap(c, time.Second)
		in.Close()
		out.Close()
		return "", wg.Wait(c)
	}, fires)
	want(t, got, "receive: 0, false, <nil>", "send: channel is closed", "case: 0, false", "select: 0, <nil>",
		"select: 1, channel is closed", `RunCompleted ""`)
}

func TestChannelCancelled(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		ch := workflow.NewChannel[int](1, "c")
		inner, cancel := workflow.WithCancel(c)
		workflow.Go(inner, func(c ctx) { _, _, err := ch.Receive(c); say(c, "receive: %v", err) })
		nap(c, time.Second)
		cancel()
		nap(c, time.Second)
		say(c, "room: %v", ch.Send(inner, 1)) // what is possible at once wins over the cancelled scope
		say(c, "full: %v", ch.Send(inner, 2))
		v, ok, err := ch.Receive(inner)
		say(c, "receive: %d, %v, %v", v, ok, err)
		_, _, err = ch.Receive(inner)
		say(c, "receive: %v", err)
		i, err := workflow.Select(inner, workflow.OnReceive(ch, nil), workflow.OnReceive[int](nil, nil))
		say(c, "select: %d, %v", i, err)
		return "", (*workflow.Channel[int])(nil).Send(inner, 1)
	}, fires, fires)
	want(t, got, "receive: cancelled", "room: <nil>", "full: cancelled", "receive: 1, true, <nil>", "receive: cancelled",
		"select: -1, cancelled", "RunFailed cancelled")
}

func TestChannelTry(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		ch := workflow.NewChannel[int](1, "c")
		try := func() {
			v, ok, err := ch.TryReceive(c)
			say(c, "receive: %d, %v, %v", v, ok, err)
		}
		try()
		for i := range 2 {
			ok, err := ch.TrySend(c, i+1)
			say(c, "send: %v, %v", ok, err)
		}
		try()
		ch.Close()
		ok, err := ch.TrySend(c, 3)
		say(c, "send: %v, %v", ok, err)
		try()
		return "", nil
	})
	want(t, got, "receive: 0, false, <nil>", "send: true, <nil>", "send: false, <nil>", "receive: 1, true, <nil>",
		"send: false, channel is closed", "receive: 0, false, <nil>", `RunCompleted ""`)
}

// TestSelectDoesNotMeetItself: a Select that waits to send and to receive on one channel does not
// serve itself, also when something else wakes it.
func TestSelectDoesNotMeetItself(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		ch := workflow.NewChannel[int](0, "c")
		i, err := workflow.Select(c, workflow.OnSend(ch, 1, nil), workflow.OnReceive(ch, nil), workflow.OnTimer(workflow.NewTimer(c, time.Second), nil))
		say(c, "alone: %d, %v", i, err)
		for range 2 {
			workflow.Go(c, func(c ctx) {
				i, err := workflow.Select(c, workflow.OnSend(ch, 1, nil), workflow.OnReceive(ch, nil))
				say(c, "together: %d, %v", i, err)
			})
		}
		nap(c, time.Second)
		return "", nil
	}, fires, fires)
	want(t, got, "alone: 2, <nil>", "together: 0, <nil>", "together: 1, <nil>", `RunCompleted ""`)
}

// TestSignalThatArrivesWhileDefaultBlocks is received afterwards.
func TestSignalThatArrivesWhileDefaultBlocks(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		i, err := workflow.Select(c, workflow.OnSignal(number, nil), workflow.Default(func() { nap(c, time.Hour) }))
		say(c, "%d, %v, %d wait", i, err, number.Pending(c))
		v, err := number.Receive(c)
		return fmt.Sprint(v), err
	}, signal("7"), fires)
	want(t, got, "1, <nil>, 1 wait", `RunCompleted "7"`)
}

// TestSelectLosesNothing: senders and receivers, many in Selects over channels of all sizes that
// often take another case, time out, or are cancelled: what was sent is received, once, and in the
// order of each sender by each receiver.
func TestSelectLosesNothing(t *testing.T) {
	total := 0
	for seed := range uint64(1000) {
		def := define(func(c ctx) (string, error) { return exchange(c, seed) })
		r := newRig(def)
		mustStep(t, r, started())
		for !r.m.Finished() {
			timer, ok := r.m.NextTimer()
			if !ok {
				t.Fatalf("seed %d: stuck: %v", seed, r.m.Stuck())
			}
			fired := fires
			fired.Cmd, fired.Name, fired.Time = timer.Cmd, timer.Name, timer.Due
			mustStep(t, r, fired)
		}
		if said := r.said["said"]; said != "" {
			t.Fatalf("seed %d:\n%s", seed, said)
		}
		n, err := strconv.Atoi(strings.Trim(string(r.m.Take().Terminal.Payload.Data), `"`))
		if err != nil {
			t.Fatal(err)
		}
		total += n
		if r.m.Close(); seed%50 == 0 {
			checkPrefixes(t, def, r.history)
		}
	}
	if total < 5000 {
		t.Errorf("only %d values were exchanged", total)
	}
}

// item is a value with where it comes from.
type item struct{ from, n int }

// exchange says what is wrong.
func exchange(c ctx, seed uint64) (string, error) {
	rng := rand.New(rand.NewPCG(seed, 7))
	channels := make([]*workflow.Channel[item], 1+rng.IntN(3))
	for i := range channels {
		channels[i] = workflow.NewChannel[item](rng.IntN(3), fmt.Sprint(i))
	}
	var senders, receivers workflow.WaitGroup
	sent, got := map[item]int{}, map[item]int{}
	for from := range 1 + rng.IntN(4) {
		own := rand.New(rand.NewPCG(seed, uint64(from)+100))
		senders.Go(c, func(c ctx) {
			for n := range 6 {
				if ch := own.IntN(len(channels)); send(c, own, channels, ch, item{from, n}) {
					sent[item{from, n}] = ch
				}
			}
		})
	}
	for k := range 1 + rng.IntN(4) {
		own := rand.New(rand.NewPCG(seed, uint64(k)+200))
		last := map[[2]int]int{} // of each sender and channel
		receivers.Go(c, func(c ctx) {
			for open := true; open; {
				open = slices.ContainsFunc(channels, func(ch *workflow.Channel[item]) bool { return !ch.Closed() || ch.Len() > 0 })
				receive(c, own, channels, func(ch int, v item) {
					got[v]++
					if key := [2]int{v.from, ch}; last[key] > v.n {
						say(c, "%v came after %d", v, last[key])
					} else {
						last[key] = v.n
					}
				})
			}
		})
	}
	err := senders.Wait(c)
	for _, ch := range channels {
		ch.Close()
	}
	err = errors.Join(err, receivers.Wait(c))
	if len(sent) != len(got) {
		say(c, "%d sent, %d received", len(sent), len(got))
	}
	for v, n := range got {
		if _, ok := sent[v]; n != 1 || !ok {
			say(c, "%v was received %d times, sent %v", v, n, ok)
		}
	}
	return fmt.Sprint(len(got)), err
}

// send sends in one of many ways, and reports whether it was done.
func send(c ctx, rng *rand.Rand, channels []*workflow.Channel[item], ch int, v item) (done bool) {
	switch rng.IntN(5) {
	case 0:
		return channels[ch].Send(c, v) == nil
	case 1:
		done, _ = channels[ch].TrySend(c, v)
		return done
	case 2:
		inner, cancel := workflow.WithTimeout(c, time.Duration(1+rng.IntN(3))*time.Second)
		defer cancel()
		return channels[ch].Send(inner, v) == nil
	default:
		cases := []workflow.Case{
			workflow.OnSend(channels[ch], v, func() { done = true }),
			workflow.OnTimer(workflow.NewTimer(c, time.Duration(rng.IntN(3))*time.Second), nil),
		}
		if rng.IntN(4) == 0 {
			slices.Reverse(cases)
		}
		if rng.IntN(5) == 0 {
			cases = append(cases, workflow.Default(func() { nap(c, time.Second) }))
		}
		_, _ = workflow.Select(c, cases...)
		return done
	}
}

// receive takes a value in one of many ways, if there is one in time.
func receive(c ctx, rng *rand.Rand, channels []*workflow.Channel[item], fn func(int, item)) {
	ch := rng.IntN(len(channels))
	take := func(v item, ok bool, err error) {
		if ok && err == nil {
			fn(ch, v)
		}
	}
	late := time.Duration(1+rng.IntN(3)) * time.Second
	switch rng.IntN(4) {
	case 0:
		take(channels[ch].TryReceive(c))
		nap(c, time.Second)
	case 1:
		inner, cancel := workflow.WithTimeout(c, late)
		defer cancel()
		take(channels[ch].Receive(inner))
	default:
		cases := []workflow.Case{workflow.OnTimer(workflow.NewTimer(c, late), nil)}
		for i, ch := range channels {
			cases = append(cases, workflow.OnReceive(ch, func(v item, ok bool) {
				if ok {
					fn(i, v)
				}
			}))
		}
		if rng.IntN(2) == 0 {
			slices.Reverse(cases)
		}
		_, _ = workflow.Select(c, cases...)
		nap(c, time.Duration(rng.IntN(2))*time.Second)
	}
}
