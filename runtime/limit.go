package runtime

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// SetLimit makes a limit, or changes it while steps hold it and wait for it: see [journal.Limit]. A
// limit that is lowered holds for every step that begins later, and those that are executed end in
// their own time; one that is raised lets those in who wait. Errors: journal.ErrInvalid, which says
// what is wrong with the limit; ctx's.
func SetLimit(ctx context.Context, c *Client, l journal.Limit) error {
	return onLimit(ctx, c, SetLimitCall, driver.AdminAction{Kind: driver.AdminSetLimit, Limit: &l})
}

// RemoveLimit removes a limit, or the row of one key, which has the bounds of all others then.
// Steps that name a limit which is not there begin as if they did not. Errors: journal.ErrNoLimit,
// journal.ErrInvalid, ctx's.
func RemoveLimit(ctx context.Context, c *Client, name, key string) error {
	return onLimit(ctx, c, RemoveLimitCall, driver.AdminAction{Kind: driver.AdminRemoveLimit, Limit: &journal.Limit{Name: name, Key: key}})
}

// ReleaseClaim takes the claims of a step away, of all limits that it needs: the node and the id
// are those of a [journal.LimitClaim] that [Limits] has told. It is for a step that hangs. The step
// is not ended, so there may be one more than the limit allows until it is. One that waits begins
// no more until its node asks again, which takes seconds. Claims of a run, whose node is 0, are
// taken away likewise; a run that waits begins without them. Errors: journal.ErrNoClaim, ctx's.
func ReleaseClaim(ctx context.Context, c *Client, node journal.NodeID, id int64) error {
	return onLimit(ctx, c, ReleaseClaimCall, driver.AdminAction{Kind: driver.AdminReleaseClaim, Claim: &journal.LimitClaim{Node: node, ID: id}})
}

// Limits tells of limits, of what is held of their keys, and who holds them and waits, as of one
// moment. f may be nil, for the limits alone. Errors: journal.ErrInvalid, ctx's.
func Limits(ctx context.Context, c *Client, f *journal.LimitFilter) (journal.LimitPage, error) {
	if f == nil {
		f = &journal.LimitFilter{}
	}
	return c.j.Limits(ctx, *f)
}

func onLimit(ctx context.Context, c *Client, kind CallKind, a driver.AdminAction) error {
	call := Call{Kind: kind, Limit: a.Limit}
	if a.Claim != nil {
		call.Node = a.Claim.Node
	}
	_, err := intercepted(ctx, c, call, func(ctx context.Context, _ *Call) (none struct{}, err error) {
		a.Actor, a.Reason = c.Actor(ctx), reasonOf(ctx, "")
		_, err = c.j.Admin(ctx, a)
		return none, err
	})
	return err
}
