package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
	"github.com/reprise-run/reprise/runtime/internal/retry"
)

// runLimits makes rounds of limits for the sake of runs that hold limits until they close (J14): it
// takes in who has come to wait and who has ended, which no node has anything else to do with. Any
// node does so for all. A hint, the time that the last round has found, or else a poll says when.
// Polls make up for hints that were lost: often while there are hints, and rarely where no run
// needs a limit, because every idle node of a cluster makes them.
type runLimits struct {
	member driver.Membership
	now    func() time.Time // the store's clock
	log    *slog.Logger
	wake   chan struct{} // one token

	mu    sync.Mutex
	news  bool      // guarded by mu, like what follows: there may be something to take in
	at    time.Time // when there will be; zero for unknown
	heard time.Time // when somebody last said that runs need limits
}

func newRunLimits(m driver.Membership, now func() time.Time, log *slog.Logger) *runLimits {
	return &runLimits{member: m, now: now, log: log, wake: make(chan struct{}, 1)}
}

// hear takes in a hint: there is something to take in, now if at is zero.
func (l *runLimits) hear(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = time.Now()
	switch {
	case at.IsZero():
		l.news = true
	case l.at.IsZero() || at.Before(l.at):
		l.at = at
	}
	wakeUp(l.wake)
}

// look makes a round due, as a poll does.
func (l *runLimits) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.news = true
	wakeUp(l.wake)
}

// due tells whether a round is due, and if not, how long that takes.
func (l *runLimits) due() (now bool, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.at.IsZero() && !l.at.After(l.now()) {
		l.news, l.at = true, time.Time{}
	}
	now, l.news = l.news, false
	if wait = limitRunsRest; time.Since(l.heard) < limitRunsBusy {
		wait = limitRunsPoll
	}
	if !l.at.IsZero() {
		wait = min(wait, max(l.at.Sub(l.now()), limitDueMin))
	}
	return now, wait
}

// loop makes rounds until ctx ends. What comes while one is on its way shares the next, and a busy
// node rests between two for as long as one takes, at most limitPaceMax.
func (l *runLimits) loop(ctx context.Context) {
	due := time.NewTimer(limitRunsPoll)
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		case <-due.C:
			l.look()
		}
		now, wait := l.due()
		for pause := limitRetryMin; now; now, wait = l.due() {
			began := time.Now()
			err := l.rounds(ctx)
			if err == nil {
				pause = limitRetryMin
				retry.Sleep(ctx, min(time.Since(began), limitPaceMax))
				continue
			}
			l.look()
			if l.report(err); errors.Is(err, journal.ErrNodeLost) || !retry.Sleep(ctx, pause) {
				return // the membership is over
			}
			pause = min(2*pause, limitRetryMax)
		}
		due.Reset(max(wait, retry.Soon))
	}
}

// rounds takes everything in that there is. It rests ahead of a round that another one of the limit
// is the reason for: the lock may be taken for long.
func (l *runLimits) rounds(ctx context.Context) error {
	r := driver.LimitRound{Runs: true}
	for pause := limitDueMin; ; {
		a, err := l.member.Limits(ctx, r)
		if err != nil {
			return err
		}
		if r.Look = a.Again; a.More || len(r.Look) > 0 {
			if pause = min(2*pause, limitRetryMax); !a.Busy || a.Runs > 0 {
				pause = limitDueMin
			} else if !retry.Sleep(ctx, pause) {
				return ctx.Err()
			}
			continue
		}
		if !a.Next.IsZero() {
			l.hear(a.Next)
		}
		return nil
	}
}

func (l *runLimits) report(err error) {
	if !errors.Is(err, journal.ErrUnavailable) && !errors.Is(err, journal.ErrNodeLost) && !errors.Is(err, journal.ErrStoreClosed) &&
		!errors.Is(err, context.Canceled) {
		l.log.Error("claims of limits cannot be asked for; the node asks again", logkey.Node, l.member.ID(), logkey.Error, err)
	}
}
