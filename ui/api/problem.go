package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/record"
)

// Problem is the body of an answer that refuses, as RFC 9457 has it.
type Problem struct {
	Type   string `json:"type" doc:"URI of the kind of problem; programs branch on it"`
	Title  string `json:"title" doc:"the kind of problem, in words"`
	Status int    `json:"status" doc:"status of the answer"`
	Detail string `json:"detail" doc:"what went wrong"`
	How    string `json:"how,omitempty" doc:"how to go on"`
}

// kind is a kind of problem. Its name is the end of its URI, and never changes.
type kind struct {
	name   string
	status int
	title  string
	how    string // to go on, if the error does not say so itself
}

// typePrefix begins the URIs of the kinds: the page that explains them.
const typePrefix = "https://github.com/reprise-run/reprise/blob/main/docs/http-api.md#"

var (
	invalidRequest  = &kind{"invalid-request", http.StatusBadRequest, "the request is wrong, or what it names cannot be stored", "GET openapi.json describes each request"}
	unauthenticated = &kind{"unauthenticated", http.StatusUnauthorized, "nobody knows who makes the request", "log in"}
	forbidden       = &kind{"forbidden", http.StatusForbidden, "the actor may not do this", "ask those who give the rights"}
	readOnly        = &kind{"read-only", http.StatusForbidden, "this API writes nothing", "use the command, or an API that may write"}
	crossOrigin     = &kind{"cross-origin", http.StatusForbidden, "a browser sends the request for another site", "send it from the site of the API, or trust the origin with Options.CrossOrigin"}
	notFound        = &kind{"not-found", http.StatusNotFound, "there is no such thing", "GET runs lists the runs that there are"}
	noMethod        = &kind{"method-not-allowed", http.StatusMethodNotAllowed, "the path has no such method", "the header Allow lists those that it has"}
	conflict        = &kind{"refused-by-state", http.StatusConflict, "the state of the run does not allow it", "GET runs/ID/why tells how it stands"}
	keyConflict     = &kind{"key-conflict", http.StatusConflict, "another run has the key", "choose another key"}
	limitFull       = &kind{"limit-full", http.StatusTooManyRequests, "as many runs wait for a limit as may", "start the run later, or raise the limit's max_backlog"}
	doesNotFit      = &kind{"does-not-fit", http.StatusConflict, "code and history do not fit", "choose an earlier point, or fits; or repair the code"}
	rejected        = &kind{"rejected", http.StatusConflict, "the run has rejected the update", "nothing was changed; the detail says why"}
	updateFailed    = &kind{"update-failed", http.StatusUnprocessableEntity, "the handler has returned an error", ""}
	unproven        = &kind{"unproven", http.StatusUnprocessableEntity, "nothing proves that what is kept fits the code", "set unproven, or give the API a node with the code: Options.Node"}
	tooLarge        = &kind{"too-large", http.StatusRequestEntityTooLarge, "the body is too large", "store it elsewhere and pass a reference"}
	wrongMedia      = &kind{"wrong-media-type", http.StatusUnsupportedMediaType, "the body is no JSON", "send Content-Type: application/json"}
	tooMany         = &kind{"too-many-streams", http.StatusServiceUnavailable, "too many streams are open", "close some, or ask again later"}
	unsupported     = &kind{"unsupported", http.StatusNotImplemented, "this API was not given what the call needs", ""}
	unavailable     = &kind{"unavailable", http.StatusServiceUnavailable, "the store does not answer", "ask again; the same key makes a repeated call safe"}
	timedOut        = &kind{"timeout", http.StatusGatewayTimeout, "the time of the call is over", "what was sent may have taken effect: the same key finds out"}
	internal        = &kind{"failed", http.StatusInternalServerError, "the call has failed", ""}
)

// kinds are all kinds of problems, in the order of the page.
var kinds = []*kind{invalidRequest, unauthenticated, forbidden, readOnly, crossOrigin, notFound, noMethod, conflict, keyConflict, limitFull, doesNotFit,
	rejected, updateFailed, unproven, tooLarge, wrongMedia, tooMany, unsupported, unavailable, timedOut, internal}

// problemError is an error with its kind.
type problemError struct {
	kind   *kind
	detail string
	how    string // empty for that of the kind
}

func (e *problemError) Error() string { return e.detail }

func refuse(k *kind, format string, args ...any) error {
	return &problemError{kind: k, detail: fmt.Sprintf(format, args...)}
}

// howTo refuses and says how to go on.
func howTo(k *kind, how, format string, args ...any) error {
	return &problemError{kind: k, detail: fmt.Sprintf(format, args...), how: how}
}

// problemOf is what a client is told of an error.
func problemOf(err error) Problem {
	e, ok := errors.AsType[*problemError](err)
	if !ok {
		k, how := kindOf(err)
		e = &problemError{kind: k, detail: err.Error(), how: how}
	}
	p := Problem{Type: typePrefix + e.kind.name, Title: e.kind.title, Status: e.kind.status, Detail: record.NamedOnce(e.detail), How: e.how}
	if p.How == "" {
		p.How = e.kind.how
	}
	return p
}

// kindOf sorts the errors of the library, and says how to go on where the kind does not say enough.
func kindOf(err error) (k *kind, how string) {
	is := func(targets ...error) bool {
		for _, t := range targets {
			if errors.Is(err, t) {
				return true
			}
		}
		return false
	}
	switch {
	case is(journal.ErrNoNode):
		return notFound, "GET nodes lists the nodes that there are"
	case is(journal.ErrNoView):
		return notFound, "GET views lists the views that there are"
	case is(journal.ErrNoLimit):
		return notFound, "GET limits lists the limits that there are"
	case is(journal.ErrNoClaim):
		return notFound, "GET limits/LIMIT lists who holds a limit, and who waits"
	case is(runtime.ErrNotPublished):
		return notFound, "GET runs/ID/published lists what the run has published"
	case is(replay.ErrNoHandler):
		return notFound, "the detail names the queries that the run has"
	case is(journal.ErrNotFound):
		return notFound, ""
	case is(runtime.ErrRejected):
		return rejected, ""
	case is(runtime.ErrBlocked):
		return conflict, "GET runs/ID/why says what blocks it; what was sent waits in its inbox"
	case is(runtime.ErrPaused):
		return conflict, "nothing was sent; a resume of what is paused lets the run go on, and without refuse_paused the update waits for that"
	case is(journal.ErrOpen):
		return conflict, "terminate the run first, or let it end"
	case is(journal.ErrClosed):
		return conflict, "GET runs/ID says how it ended"
	case is(runtime.ErrUnproven):
		return unproven, ""
	case is(runtime.ErrNotRegistered):
		return unsupported, "register the workflow with the node of the API: Options.Node"
	case is(context.DeadlineExceeded, context.Canceled, runtime.ErrStuck):
		return timedOut, ""
	case is(journal.ErrUnavailable, journal.ErrStoreClosed):
		return unavailable, ""
	case is(journal.ErrInvalid):
		return invalidRequest, ""
	}
	return kindOfType(err)
}

// kindOfType sorts errors that have data.
func kindOfType(err error) (k *kind, how string) {
	if _, ok := errors.AsType[*journal.KeyConflictError](err); ok {
		return keyConflict, ""
	}
	if _, ok := errors.AsType[*journal.LimitFullError](err); ok {
		return limitFull, ""
	}
	if _, ok := errors.AsType[*runtime.PointError](err); ok {
		return conflict, "GET runs/ID/history shows its events; a reset goes back to another point"
	}
	if _, ok := errors.AsType[*journal.UnreadableError](err); ok {
		return conflict, "GET runs/ID shows what can be read of it; a node of the release that has written it can go on"
	}
	_, diverged := errors.AsType[*replay.DivergenceError](err)
	_, panicked := errors.AsType[*replay.PanicError](err)
	_, undecoded := errors.AsType[*replay.DecodeError](err)
	_, undecided := errors.AsType[*replay.UndecidedError](err)
	switch {
	case undecided:
		return conflict, "ask again when a node has begun with the run"
	case diverged, panicked, undecoded:
		return doesNotFit, ""
	}
	if _, ok := errors.AsType[*runtime.UpdateError](err); ok {
		return updateFailed, ""
	}
	return internal, ""
}
