package runtime

import (
	"errors"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime/internal/retry"
)

// claimLoop takes due tasks at its own pace: a batch, hand it out, repeat while batches are full. Otherwise it waits for a hint,
// for the next known due time, or for the poll.
func (inc *incarnation) claimLoop() {
	for inc.claims.Err() == nil {
		reconcile := inc.doubt.look()
		c, err := inc.claim(reconcile)
		switch {
		case err == nil:
		case inc.claims.Err() != nil:
			return
		default:
			inc.doubt.raise() // the claim may have happened
			if !errors.Is(err, journal.ErrUnavailable) {
				inc.n.tel.log.Error("claiming failed", keyNode, inc.id, keyError, err)
			}
			if !retry.Sleep(inc.claims, retry.WaitMax) {
				return
			}
			continue
		}
		activate := inc.sys.Activate
		if reconcile {
			activate = inc.sys.ActivateUnconfirmed
		}
		for i := range c.Tasks {
			activate(c.Tasks[i])
		}
		for _, run := range c.Attention {
			inc.sys.Attend(run)
		}
		if len(c.Tasks) < claimMax || inc.room() == 0 {
			inc.await(inc.nextDue(&c))
		}
	}
}

// room is how many more runs the node may own.
func (inc *incarnation) room() int {
	return min(max(inc.n.o.LiveMax-inc.sys.Live(), 0), claimMax)
}

func (inc *incarnation) claim(reconcile bool) (journal.Claim, error) {
	inc.dueMu.Lock()
	inc.due, inc.heard = time.Time{}, time.Now()
	inc.dueMu.Unlock()
	return inc.n.j.Claim(inc.asks, journal.ClaimRequest{Node: inc.id, Routes: inc.n.routes, Max: inc.room(), Reconcile: reconcile})
}

// nextDue is when the next task falls due, by the node's estimate of the store's clock. An estimate that is ahead, because the store's
// clock was set back, would have the loop ask without a pause for what the store does not give yet: the store's own word on how
// long it takes counts then.
func (inc *incarnation) nextDue(c *journal.Claim) time.Time {
	now, wait := inc.n.j.Now(), c.NextDue.Sub(c.Now)
	if c.NextDue.IsZero() || wait <= 0 || now.Before(c.NextDue) {
		return c.NextDue
	}
	return now.Add(wait)
}

// await returns when it is worth claiming again.
func (inc *incarnation) await(next time.Time) {
	if !next.IsZero() {
		inc.expect(next)
	}
	poll := time.NewTimer(inc.n.o.Poll)
	defer poll.Stop()
	for {
		wait := inc.n.o.Poll
		inc.dueMu.Lock()
		due := inc.due
		inc.dueMu.Unlock()
		if !due.IsZero() && inc.room() > 0 {
			wait = min(wait, due.Sub(inc.n.j.Now()))
		}
		if wait <= 0 {
			return
		}
		t := time.NewTimer(wait)
		select {
		case <-inc.wake:
			t.Stop() // due may have changed
		case <-t.C:
		case <-poll.C:
			t.Stop()
			rest := inc.rest()
			if rest <= 0 {
				return
			}
			poll.Reset(rest)
		case <-inc.claims.Done():
			t.Stop()
			return
		}
	}
}

// hear takes what a renewal saw of the queue, which makes a poll needless. Of renewals that are more frequent than polls, no more
// than about as many as there would be polls are heeded.
func (inc *incarnation) hear(r journal.Renewal) {
	if !r.Polled {
		return
	}
	now := time.Now()
	inc.dueMu.Lock()
	early := now.Sub(inc.heard) < inc.n.o.Poll/2
	if !early {
		inc.heard = now
	}
	inc.dueMu.Unlock()
	if !early && !r.NextDue.IsZero() {
		inc.expect(r.NextDue)
	}
}

// rest is how long the next poll may wait, because a renewal stood in for the last one.
func (inc *incarnation) rest() time.Duration {
	if inc.doubt.raised() {
		return 0
	}
	inc.dueMu.Lock()
	defer inc.dueMu.Unlock()
	return inc.n.o.Poll - time.Since(inc.heard)
}
