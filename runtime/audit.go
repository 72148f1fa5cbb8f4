package runtime

import (
	"context"
	"os"
	"os/user"
	"sync"

	"github.com/reprise-run/reprise/journal"
)

type actorKey struct{}

type reasonKey struct{}

// WithActor returns a context for calls that says who makes them, for the audit: the name of a
// person, or of a service on whose behalf the program acts. It serves every call that has an entry
// there: what operators do to runs, queues, workflows, nodes, limits and saved views. At most 255
// bytes without control characters, else the call is journal.ErrInvalid. It has precedence over
// ClientOptions.Actor.
func WithActor(ctx context.Context, actor string) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

// WithReason returns a context for calls that says why they are made, for the audit. It serves the
// same calls as [WithActor]; a reason that a call has of its own, as an argument or an option,
// comes first.
func WithReason(ctx context.Context, reason string) context.Context {
	return context.WithValue(ctx, reasonKey{}, reason)
}

// Actor is who makes a call, for the audit: as its context says, see [WithActor], else as the
// client's options say, else the user of the process and its host.
func (c *Client) Actor(ctx context.Context) string {
	if name, _ := ctx.Value(actorKey{}).(string); name != "" {
		return name
	}
	if c.actorName != "" {
		return c.actorName
	}
	return defaultActor()
}

// reasonOf is why a call is made: as it says itself, else as its context says.
func reasonOf(ctx context.Context, own string) string {
	if own == "" {
		own, _ = ctx.Value(reasonKey{}).(string)
	}
	return own
}

// defaultActor is the user of the process and its host, such as "eva@build-7". It is asked for
// once.
var defaultActor = sync.OnceValue(func() string {
	name, host := "unknown", "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if h, err := os.Hostname(); err == nil {
		host = h
	}
	if full := name + "@" + host; journal.CheckText("actor", full, journal.NameBytesMax) == nil {
		return full
	}
	return "unknown"
})

// Audit returns what operators have done, newest first (J12): one entry for each pause, resume,
// change of labels or priority, retry, reset, termination and deletion that has changed a run, with
// who, why and when, by whatever client. The entries of a run outlive it. A resume of an open run
// always has one, also if nothing held the run. What is refused, or finds nothing to change, has no
// entry; nor has a child that its close policy closes when somebody terminates the parent: the
// parent has it. Nor has a message, be it a signal, an update or a request to cancel: the run's
// code decides what comes of it, and its inbox and history have it.
//
// A page has f.Limit entries at most. For the next one set f.Before to the Number of its last
// entry; after the last page there are none. Errors: journal.ErrInvalid, ctx's.
func (c *Client) Audit(ctx context.Context, f journal.AuditFilter) ([]journal.AuditEntry, error) {
	return c.j.Audit(ctx, f)
}
