package gather_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/gather"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// add adds an input.
func add[Out any](r *rig, to *gather.Collector[int, Out], key string, in int) *gather.Ticket[Out] {
	r.Helper()
	ticket, err := gather.Add(r.ctx, r.client, to, key, in, nil)
	if err != nil {
		r.Fatal(err)
	}
	return ticket
}

// wantTicket waits for what the run of an input says.
func wantTicket(r *rig, ticket *gather.Ticket[string], want string) {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.ctx, 24*time.Hour)
	defer cancel()
	if got, err := ticket.Result(ctx); err != nil || got != want {
		r.Errorf("the ticket says %q, %v, want %q", got, err, want)
	}
}

// TestTickets: inputs of both kinds are in one order, and each ticket is for the run that got its
// input; also if that is asked long after, or is started by the input itself.
func TestTickets(t *testing.T) {
	bubble(t, func(r *rig) {
		mails := gather.Batch("mails", sum, gather.Rules{Size: 4, Wait: time.Minute})
		put(r, mails, "", 1)
		two := add(r, mails, "", 2)
		put(r, mails, "", 3)
		four := add(r, mails, "", 4)
		five := add(r, mails, "", 5)
		put(r, mails, "", 6)
		wantTicket(r, five, "5 6")
		if at := r.Elapsed(); at < time.Minute || at > 61*time.Second {
			r.Errorf("the batch started after %s", at)
		}
		wantTicket(r, two, "1 2 3 4")
		wantTicket(r, four, "1 2 3 4")
		r.want("mails", "", "1 2 3 4 @0s", "5 6 @1m0s")

		index := gather.Debounce("index", echo, gather.Rules{Quiet: time.Second})
		first, second := add(r, index, "a", 1), add(r, index, "a", 2)
		wantTicket(r, first, "2")
		wantTicket(r, second, "2")
		shops := gather.Latest("shops", slow, gather.Rules{})
		first, second, third := add(r, shops, "", 1), add(r, shops, "", 2), add(r, shops, "", 3)
		wantTicket(r, third, "3")
		wantTicket(r, second, "3")
		wantTicket(r, first, "1")
	})
}

// TestKeyOfInput: an input with a key is taken once.
func TestKeyOfInput(t *testing.T) {
	bubble(t, func(r *rig) {
		mails := gather.Batch("mails", sum, gather.Rules{Size: 2, Wait: time.Minute})
		for range 3 {
			if err := gather.Put(r.ctx, r.client, mails, "", 1, &gather.Options{Key: "once"}); err != nil {
				r.Fatal(err)
			}
		}
		var tickets [3]*gather.Ticket[string]
		for i := range tickets {
			var err error
			if tickets[i], err = gather.Add(r.ctx, r.client, mails, "", 2, &gather.Options{Key: "once"}); err != nil {
				r.Fatal(err)
			}
		}
		for _, ticket := range tickets {
			wantTicket(r, ticket, "1 2")
		}
		r.Sleep(2 * time.Minute)
		r.want("mails", "", "1 2 @0s")
	})
}

// TestGenerations: a collector whose history is long goes on as new with what waits. Nothing is
// lost or late, and tickets of inputs that an earlier generation took are good.
func TestGenerations(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		e.Node.HistoryHint, e.Node.HistoryMax = 8, 60
		r := rigIn(e)
		mails := gather.Batch("mails", sum, gather.Rules{Size: 100, Wait: time.Minute})
		index := gather.Debounce("index", echo, gather.Rules{Quiet: 10 * time.Second, Wait: time.Minute})
		shops := gather.Latest("shops", slow, gather.Rules{})
		var tickets, others []*gather.Ticket[string]
		for i := range 50 {
			tickets = append(tickets, add(r, mails, "", 2*i))
			put(r, mails, "", 2*i+1)
			others = append(others, add(r, index, "", i))
			put(r, shops, "", i)
			r.Sleep(time.Second)
		}
		r.Sleep(20 * time.Second)
		put(r, mails, "", 100)
		r.Sleep(3 * time.Minute)
		r.want("mails", "", text(from(0, 99))+" @49s", "100 @2m10s")
		r.want("index", "", "49 @59s")
		for i := range tickets {
			wantTicket(r, tickets[i], text(from(0, 99)))
			wantTicket(r, others[i], "49")
		}
		// A collector asks for the end of a run that an earlier generation has started: it is late
		// by no more than the run is long.
		list := batches(r, r.client, "shops", "")
		for i := 1; i < len(list); i++ {
			if gap := list[i].CreatedAt.Sub(list[i-1].CreatedAt); gap < 10*time.Second || gap > 20*time.Second {
				r.Errorf("run %d of the shops began %s behind the one before", i, gap)
			}
		}
		if said := results(r, r.client, "shops", ""); len(said) < 4 || said[0] != "0" || said[len(said)-1] != "49" {
			r.Errorf("the shops ran for %q", said)
		}
		for _, name := range []string{"mails", "index", "shops"} {
			run, err := r.client.FindKey(r.ctx, gather.KeyOf(name, ""))
			if err != nil {
				r.Fatal(err)
			}
			d, err := r.client.Describe(r.ctx, run)
			if err != nil || d.Run.Generation < 3 {
				r.Errorf("the collector %s is in generation %d, %v", name, d.Run.Generation, err)
			}
		}
	})
}

// TestLarge: as many bytes as a batch may have go from generation to generation while they wait.
func TestLarge(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		const count workflow.Name[[]string, int] = "count"
		e.Node.HistoryHint = 4
		runtimetest.Handle(e, count, func(_ workflow.Context, in []string) (int, error) { return len(in), nil }, nil)
		r := rigIn(e)
		texts := gather.Batch("texts", count, gather.Rules{Wait: time.Minute})
		for range 12 {
			if err := gather.Put(r.ctx, r.client, texts, "", strings.Repeat("<x>", 33_333), nil); err != nil {
				r.Fatal(err)
			}
			r.Sleep(time.Second)
		}
		r.Sleep(time.Hour)
		var got []int
		for _, run := range batches(r, r.client, "texts", "") {
			got = append(got, clustertest.MustResult(r, runtime.RunOf(r.client, count, run.ID)))
		}
		if fmt.Sprint(got) != "[10 2]" {
			r.Errorf("the batches have %d texts, want 10 and 2", got)
		}
	})
}

// TestOrderWhileItLooks: inputs of both kinds are in one order also while the collector asks what
// has become of a run that an earlier generation has started, which takes long.
// Whoever waits then gets the run also if the collector is cancelled meanwhile.
func TestOrderWhileItLooks(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		e.Node.HistoryHint = 4
		r := rigIn(e)
		begun, end := make(chan bool, 100), make(chan bool)
		runtimetest.Fake(e, "look", func(ctx context.Context) (open bool, err error) {
			begun <- true
			select {
			case <-end:
			case <-ctx.Done():
			}
			return false, ctx.Err()
		})
		shops := gather.Latest("shops", slow, gather.Rules{})
		put(r, shops, "", from(1, 6)...)
		<-begun
		r.Sleep(time.Minute)
		put(r, shops, "", 7)
		ticket := add(r, shops, "", 8)
		collector, err := r.client.FindKey(r.ctx, gather.KeyOf("shops", ""))
		if err == nil {
			err = r.client.Cancel(r.ctx, collector, "moved")
		}
		if err != nil {
			r.Fatal(err)
		}
		r.Sleep(time.Second)
		close(end)
		wantTicket(r, ticket, "8")
		if said := fmt.Sprint(results(r, r.client, "shops", "")); said != "[1 8]" {
			r.Errorf("the shops ran for %s", said)
		}
	})
}

// TestCancel: a collector that is cancelled starts what it has and ends. What comes later has
// another one, although the sender remembers the first.
func TestCancel(t *testing.T) {
	bubble(t, func(r *rig) {
		mails := gather.Batch("mails", sum, gather.Rules{Wait: time.Hour})
		ticket := add(r, mails, "", 1)
		put(r, mails, "", 2, 3)
		collector, err := r.client.FindKey(r.ctx, gather.KeyOf("mails", ""))
		if err != nil {
			r.Fatal(err)
		}
		if err := r.client.Cancel(r.ctx, collector, "moved"); err != nil {
			r.Fatal(err)
		}
		wantTicket(r, ticket, "1 2 3")
		done, err := runtime.Published[gather.Info](r.ctx, r.client, collector, gather.Published)
		if want := (gather.Info{Batches: 1, Inputs: 3, Last: done.Last}); err != nil || done != want || done.Last.IsZero() {
			r.Errorf("the collector says %+v, %v", done, err)
		}
		put(r, mails, "", 4)
		if err := cancel(r); err != nil {
			r.Fatal(err)
		}
		wantTicket(r, add(r, mails, "", 5), "5")
		r.Sleep(2 * time.Hour)
		r.want("mails", "", "1 2 3 @0s", "4 @0s", "5 @1h0m1s")
	})
}

// TestTerminated: a ticket whose collector was terminated does not wait for ever, whichever
// generation has taken the input.
func TestTerminated(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		e.Node.HistoryHint = 4
		r := rigIn(e)
		mails := gather.Batch("mails", sum, gather.Rules{Wait: time.Hour})
		first := add(r, mails, "", 1)
		put(r, mails, "", from(2, 9)...)
		r.Sleep(time.Minute)
		last := add(r, mails, "", 10)
		r.Sleep(time.Minute)
		collector, err := r.client.FindKey(r.ctx, gather.KeyOf("mails", ""))
		if err != nil {
			r.Fatal(err)
		}
		short, cancel := context.WithTimeout(r.ctx, time.Minute)
		defer cancel()
		if _, err := first.Run(short); !errors.Is(err, context.DeadlineExceeded) {
			r.Errorf("the ticket says %v before the batch has been started", err)
		}
		if err := r.client.Terminate(r.ctx, collector, "wrong"); err != nil {
			r.Fatal(err)
		}
		for _, ticket := range []*gather.Ticket[string]{first, last} {
			if _, err := ticket.Run(r.ctx); !errors.Is(err, journal.ErrClosed) {
				r.Errorf("the ticket says %v", err)
			}
		}
	})
}

// cancel cancels the present collector of mails, and waits until it has ended.
func cancel(r *rig) error {
	collector, err := r.client.FindKey(r.ctx, gather.KeyOf("mails", ""))
	if err == nil {
		err = r.client.Cancel(r.ctx, collector, "moved")
	}
	r.Sleep(time.Second)
	return err
}

// TestSetBack: a collector that an operator sets back does not start the same batches again.
func TestSetBack(t *testing.T) {
	bubble(t, func(r *rig) {
		mails := gather.Batch("mails", sum, gather.Rules{Size: 2, Wait: time.Minute})
		put(r, mails, "", from(1, 4)...)
		r.Sleep(time.Second)
		collector, err := r.client.FindKey(r.ctx, gather.KeyOf("mails", ""))
		if err != nil {
			r.Fatal(err)
		}
		if _, err := r.client.Reset(r.ctx, collector, runtime.AfterEvent(1), &runtime.ResetOptions{Unproven: true}); err != nil {
			r.Fatal(err)
		}
		put(r, mails, "", 5, 6)
		r.Sleep(2 * time.Minute)
		r.want("mails", "", "1 2 @0s", "3 4 @0s", "5 6 @1s")
	})
}

// TestAddInTransaction: nobody can wait for what is not committed.
func TestAddInTransaction(t *testing.T) {
	bubble(t, func(r *rig) {
		_, err := gather.Add(r.ctx, r.client, gather.Batch("mails", sum, gather.Rules{Wait: time.Minute}), "", 1, &gather.Options{Tx: noTx{}})
		if !errors.Is(err, journal.ErrInvalid) || !strings.Contains(err.Error(), "use Put") {
			r.Errorf("it says %v", err)
		}
	})
}

// TestEveryCrash: with a crash at every commit of collectors and of batches, each input is in one
// batch, in order, and each batch is started once.
func TestEveryCrash(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		e.Node.HistoryHint = 12
		r := rigIn(e)
		mails := gather.Batch("mails", sum, gather.Rules{Size: 4, Wait: time.Minute})
		shops := gather.Latest("shops", slow, gather.Rules{})
		ticket := add(r, mails, "", 0)
		put(r, mails, "", 1)
		e.Sleep(30 * time.Second)
		put(r, mails, "", from(2, 8)...)
		put(r, shops, "", 1, 2)
		e.Sleep(30 * time.Second)
		late := add(r, mails, "", 9)
		put(r, shops, "", 3)
		e.Sleep(2 * time.Minute)
		if got := fmt.Sprint(results(e, r.client, "mails", "")); got != "[0 1 2 3 4 5 6 7 8 9]" {
			e.Errorf("the batches are %s", got)
		}
		wantTicket(r, ticket, "0 1 2 3")
		wantTicket(r, late, "8 9")
		if got := results(e, r.client, "shops", ""); got[len(got)-1] != "3" {
			e.Errorf("the shops ran for %q", got)
		}
	})
}
