package worker

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reprise-run/reprise/journal/driver"
)

// claimTimer decides when the next claim is worth a call of the store.
//
// due is the earliest time at which a task is known to fall due; hints, renewals and the answers to
// claims set it. A claim clears it before the call is sent, not after: what is heard while the call
// is in flight may be news that the call does not see, so it stays and leads to another claim. The
// wake channel holds one token; a token says only "look at due again", so one that is left over is
// harmless and one that finds the channel full is not missed.
//
// While the node is full and something is due, the loop waits for room. It is hungry then, and
// whatever may make room wakes it: see noteRoom. Meanwhile it claims nothing every probeEvery, to
// learn who waits. While nothing is due it need not hear of room, so a busy node that has taken all
// there is wakes nobody.
//
// The poll is for hints that were lost. A look at the store that saw the queue counts as a poll,
// because it asks the same question. An idle node thus hardly ever claims.
type claimTimer struct {
	now         func() time.Time // estimates the store's clock (J9)
	poll        time.Duration
	room        func() int
	unconfirmed *unconfirmed
	wake        chan struct{}
	hungry      atomic.Bool // the loop waits for room

	mu     sync.Mutex
	due    time.Time // by the store's clock; zero if nothing is known
	looked time.Time // local time of the last claim, or of the look that counts as one
	probed time.Time // local time of the last claim that took nothing
}

func newClaimTimer(now func() time.Time, poll time.Duration, room func() int, u *unconfirmed) *claimTimer {
	return &claimTimer{now: now, poll: poll, room: room, unconfirmed: u, wake: make(chan struct{}, 1)}
}

// noteClaim says that a claim for up to max tasks is about to be sent.
func (t *claimTimer) noteClaim(max int) {
	t.hungry.Store(false)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.due, t.looked = time.Time{}, time.Now()
	if max == 0 {
		t.probed = t.looked
	}
}

// noteRoom says that there may be more room.
func (t *claimTimer) noteRoom() {
	if t.hungry.Load() {
		t.wakeClaims()
	}
}

// expect makes the loop claim at the given time, or now if it is zero.
func (t *claimTimer) expect(at time.Time) {
	if at.IsZero() {
		at = time.Unix(0, 1) // long due
	}
	t.mu.Lock()
	sooner := t.due.IsZero() || at.Before(t.due)
	if sooner {
		t.due = at
	}
	t.mu.Unlock()
	if sooner {
		t.wakeClaims()
	}
}

// wakeClaims makes the loop look at due and room again.
func (t *claimTimer) wakeClaims() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// noteLook takes what a look saw of the queue. If looks are more frequent than polls, only as many
// count as there would be polls: each may lead to a claim, and all nodes see the same due task.
func (t *claimTimer) noteLook(l driver.Look) {
	if !l.Polled {
		return
	}
	now := time.Now()
	t.mu.Lock()
	early := now.Sub(t.looked) < t.poll/2
	if !early {
		t.looked = now
	}
	t.mu.Unlock()
	if !early && !l.NextDue.IsZero() {
		t.expect(l.NextDue)
	}
}

// pollDelay is the time until a poll is due. A look that saw the queue counts as a poll, but finds
// nothing of what is unconfirmed.
func (t *claimTimer) pollDelay() time.Duration {
	if t.unconfirmed.pending() {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.poll - time.Since(t.looked)
}

// nextDue is the time of the next due task, as the node estimates the store's clock. If the store's
// clock was set back, the estimate is ahead of it for a while. The task would seem due before the
// store gives it out, and the loop would claim without a pause; so the store's own figure, how long
// it takes from its now, counts then.
func (t *claimTimer) nextDue(c *driver.Claim) time.Time {
	now, wait := t.now(), c.NextDue.Sub(c.Now)
	if c.NextDue.IsZero() || wait <= 0 || now.Before(c.NextDue) {
		return c.NextDue
	}
	return now.Add(wait)
}

// await returns when it is worth claiming again, or ctx ends. next is what the last claim knew,
// zero for nothing.
func (t *claimTimer) await(ctx context.Context, next time.Time) {
	if !next.IsZero() {
		t.expect(next)
	}
	poll := time.NewTimer(t.poll)
	defer poll.Stop()
	for {
		wait := t.wait()
		if wait <= 0 {
			return
		}
		due := time.NewTimer(wait)
		select {
		case <-t.wake:
			due.Stop()
		case <-due.C:
		case <-poll.C:
			due.Stop()
			delay := t.pollDelay()
			if delay <= 0 {
				return
			}
			poll.Reset(delay)
		case <-ctx.Done():
			due.Stop()
			return
		}
	}
}

// wait is the time until the earliest known task is due, at most the poll. If it is due and there
// is no room, it is the time until the next probe. hungry is set before the room is read, so room
// that comes after is told.
func (t *claimTimer) wait() time.Duration {
	t.mu.Lock()
	due, probed := t.due, t.probed
	t.mu.Unlock()
	if due.IsZero() {
		return t.poll
	}
	wait := due.Sub(t.now())
	t.hungry.Store(wait <= 0)
	if wait <= 0 && t.room() == 0 {
		wait = probeEvery - time.Since(probed)
	}
	return min(t.poll, wait)
}
