package api

import (
	"context"
	"net/http"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow/flow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/record"
)

// Anonymous is the actor of calls if Options.Auth is not set: the audit has this name.
const Anonymous = "anonymous over HTTP"

// See is the verb that Options.Allow is asked for to find out whether an actor may know of a run.
const See = "run show"

// Options of an API. The zero value means the defaults: everybody may do everything.
type Options struct {
	// Auth says who makes a request, for the audit and for Allow. An error refuses the request, and
	// its text is shown; an empty name does so too. Default: everybody is Anonymous.
	Auth func(r *http.Request) (actor string, err error)
	// Allow decides whether an actor may do something. verb is that of the command: "run list",
	// "run cancel", "bulk delete"; docs/http-api.md lists them. run is the run that it is about,
	// and must not be changed. It is nil for a call about no single run; of a run that is to be
	// started, and of a queue or workflow, it has what is known; of one that was deleted it has id
	// and workflow. Who may start a bulk job acts with it on every run. Default: everything is
	// allowed.
	Allow func(ctx context.Context, actor, verb string, run *journal.Run) bool
	// ReadOnly refuses whatever writes. Queries and dry runs write nothing.
	ReadOnly bool
	// Node answers queries and proves, with the code that is registered with it, that what a reset,
	// fork, skip or edit keeps fits. It need not run. Without it queries are refused, and these
	// verbs need "unproven".
	Node *runtime.Node
	// Backlog says what waits for nodes: postgres.Backlog or sqlite.Backlog with the store of the
	// client. Without it GET /queues is refused.
	Backlog func(ctx context.Context) ([]driver.Backlog, error)

	// Flows are the shapes of the program's flows, so that one is drawn that is not stored:
	// flows.Start and flows.Store store them.
	Flows []*flow.Shape

	// HideInputs leaves out the inputs and headers of runs, the signals and updates that were sent
	// to them, and the values that their code has recorded.
	HideInputs bool
	// Redact decides what an actor is shown of each payload, and of each failure: it returns the
	// payload, changed or another one, or nil for nothing. It gets no bytes that the codec does not
	// decode: these are not shown then. Default: everything is shown.
	Redact func(ctx context.Context, actor string, from record.Source, p *record.Payload) *record.Payload

	// CrossOrigin tells which requests of browsers come from other sites. Default: a new
	// http.CrossOriginProtection, which trusts no other origin.
	CrossOrigin *http.CrossOriginProtection
	// CursorKey seals the cursors of pages if Allow is set: they name runs that the actor may not
	// see. Processes behind one address need the same one. Default: chance, so that a cursor serves
	// in this process alone.
	CursorKey []byte
	// Timeout bounds each call but streams. What was sent may take effect after it. Default 30 s.
	Timeout time.Duration
	// Poll is how often streams look for changes of which nothing tells, such as some that other
	// processes make. Streams that show the same share a look; of different lists, one is looked at
	// in that time, then the next. Default 4 s.
	Poll time.Duration
	// BodyBytesMax bounds the body of a request. Default: the limit of a payload, and 1 MiB.
	BodyBytesMax int64
}

// withDefaults returns a copy.
func (o *Options) withDefaults(j *journal.Journal) Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Auth == nil {
		c.Auth = func(*http.Request) (string, error) { return Anonymous, nil }
	}
	if c.CrossOrigin == nil {
		c.CrossOrigin = http.NewCrossOriginProtection()
	}
	if c.Timeout <= 0 {
		c.Timeout = timeoutDefault
	}
	if c.Poll <= 0 {
		c.Poll = pollDefault
	}
	if c.BodyBytesMax <= 0 {
		c.BodyBytesMax = int64(j.Options().PayloadBytesMax) + bodyRoom
	}
	return c
}
