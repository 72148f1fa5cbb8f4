package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/internal/once"
)

// rewindTries bounds how often a retry or reset looks again because the run has moved on.
const rewindTries = 5

// rewind carries a plan out. If the run has moved on, while it was planned or since, it plans
// again.
func rewind(ctx context.Context, c *Client, call Call, a driver.AdminAction, plan func(ctx context.Context) (*plan, error), dry bool) (*Rewinding, error) {
	try := func(ctx context.Context) (*Rewinding, error) {
		p, err := plan(ctx)
		if err == nil && p.fork == nil {
			err = answerable(ctx, c, p)
		}
		if err != nil {
			return nil, fmt.Errorf("%s run %s: %w", call.Kind, call.Run, err)
		}
		if p.fork == nil {
			if err := takeAlong(ctx, c, p, a.Reason, dry); err != nil {
				return nil, fmt.Errorf("%s run %s: %w", call.Kind, call.Run, err)
			}
		}
		if p.names {
			if err := p.nameMessages(ctx, c); err != nil {
				return nil, fmt.Errorf("%s run %s: %w", call.Kind, call.Run, err)
			}
		}
		if !dry {
			a.Rewind, a.Fork = p.w, p.fork
			_, err = c.j.Admin(ctx, a)
			if p.fork == nil {
				c.waiters.GoesOn(call.Run, p.w.Generation) // also if the answer is lost
			}
		}
		return p.out, err
	}
	do := func(ctx context.Context) (*Rewinding, error) {
		for n := 1; ; n++ {
			out, err := try(ctx)
			if err == nil {
				return out, nil
			}
			if !errors.Is(err, driver.ErrMoved) || n == rewindTries {
				return nil, err
			}
		}
	}
	if dry {
		return do(ctx)
	}
	a.Run = call.Run
	return intercepted(ctx, c, call, func(ctx context.Context, _ *Call) (*Rewinding, error) {
		a.Actor, a.Reason, a.Once = c.Actor(ctx), reasonOf(ctx, a.Reason), once.InStore(ctx)
		return do(ctx)
	})
}

// takeAlong lets the children go on that the run of a plan needs, or only says which. What refuses
// one of them is heard before any goes on.
func takeAlong(ctx context.Context, c *Client, p *plan, reason string, dry bool) error {
	revivals, err := revivals(ctx, c, p)
	if err != nil {
		return err
	}
	if err := reviveAll(ctx, c, p, revivals, reason, true); err != nil || dry {
		return err
	}
	return reviveAll(ctx, c, p, revivals, reason, false)
}

func reviveAll(ctx context.Context, c *Client, p *plan, revivals []revival, reason string, dry bool) error {
	p.out.Children = nil
	for _, r := range revivals {
		out, err := revive(ctx, c, r, p.again, reason, dry)
		if errors.Is(err, journal.ErrOpen) || errors.Is(err, journal.ErrClosed) {
			continue // somebody else lets it go on, or it has completed
		}
		if err != nil {
			return fmt.Errorf("its child %s is to go on with it: %w", r.run, err)
		}
		p.out.Children = append(p.out.Children, out)
	}
	return nil
}

func revive(ctx context.Context, c *Client, r revival, again bool, reason string, dry bool) (*Rewinding, error) {
	if r.cancel == 0 {
		call := Call{Kind: RetryCall, Run: r.run, Payload: reason}
		plan := func(ctx context.Context) (*plan, error) { return retryPlan(ctx, c, r.run, again, false) }
		return rewind(ctx, c, call, driver.AdminAction{Kind: driver.AdminRetry, Reason: reason}, plan, dry)
	}
	plan := func(ctx context.Context) (*plan, error) {
		p, err := skipPlan(ctx, c, r.run, r.cancel, false)
		if err != nil {
			return nil, err
		}
		if p.h.Run.Status == journal.Completed { // without having heeded the request
			return nil, journal.ErrClosed
		}
		p.w.AtEnd, p.w.Behind = true, int32(len(p.h.Events))-int32(p.seq) // what the request leads to is known
		if !again {
			p.carryOver()
			err = p.out.refuseCompleted(r.run, "it was asked to cancel")
		}
		return p, err
	}
	call := Call{Kind: SkipCall, Run: r.run, Payload: reason}
	return rewind(ctx, c, call, driver.AdminAction{Kind: driver.AdminSkip, Reason: reason}, plan, dry)
}
