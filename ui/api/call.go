package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/record"
)

// call is one request that has been let in.
type call struct {
	h     *handler
	op    *operation
	r     *http.Request
	ctx   context.Context // has the actor
	actor string
	params
	body  any // points to the operation's type; nil without a body
	maker record.Maker
	code  int // status, if it is not 200
	scans int // how many runs are looked at to find those that the actor may see
}

// enter lets a request in, or says why not. Nothing is read of the store, so an answer here does
// not depend on what is in it.
func (c *call) enter(ctx context.Context, w http.ResponseWriter) (err error) {
	if err := c.h.o.CrossOrigin.Check(c.r); err != nil {
		return refuse(crossOrigin, "%v", err)
	}
	if c.actor, err = c.h.o.Auth(c.r); err != nil {
		return refuse(unauthenticated, "%v", err)
	}
	if c.actor == "" { // the audit would have the user of this process
		return refuse(unauthenticated, "Options.Auth names nobody")
	}
	if c.query, err = c.op.checkQuery(c.r.URL.RawQuery); err != nil {
		return err
	}
	if c.op.writes && c.h.o.ReadOnly && !c.flag(dryRun.name) {
		return refuse(readOnly, "%s was not done: the API is read-only", strings.Join(c.op.verbs, " or "))
	}
	if c.body, err = c.readBody(w); err != nil {
		return err
	}
	c.ctx = runtime.WithReason(runtime.WithActor(ctx, c.actor), c.text(reason.name))
	c.maker = record.Maker{Codec: c.h.journal.Codec(), Show: c.shown()}
	return nil
}

// status is that of an answer that is no problem.
func (c *call) status() int {
	if c.code != 0 {
		return c.code
	}
	return http.StatusOK
}

// keyPrefix begins a part of a path that names a run by its key.
const keyPrefix = "key="

// run finds the run of the path, if the actor may see it and do to it what the operation does.
func (c *call) run() (journal.RunID, error) {
	row, err := c.row("run")
	if err != nil {
		return journal.RunID{}, err
	}
	return row.ID, c.may(c.op.verb(), row)
}

// row finds the run that a part of the path names, if the actor may see it. Without Allow it is not
// read: it has its id, and whether it exists shows when something is done to it.
func (c *call) row(part string) (*journal.Run, error) {
	return c.rowOf(c.r.PathValue(part))
}

func (c *call) rowOf(arg string) (*journal.Run, error) {
	id, err := c.find(arg)
	if err != nil {
		return nil, err
	}
	if c.h.o.Allow == nil {
		return &journal.Run{ID: id}, nil
	}
	row, err := c.read(id)
	if err != nil {
		return nil, err
	}
	if row == nil || !c.sees(row) {
		return nil, noRun(arg)
	}
	return row, nil
}

// noRun is the answer for a run that does not exist, and for one that the actor may not see: one
// text for both.
func noRun(arg string) error { return refuse(notFound, "no run is %q", arg) }

// find returns the id of the run that an argument names, by its id or its key.
func (c *call) find(arg string) (journal.RunID, error) {
	if key, ok := strings.CutPrefix(arg, keyPrefix); ok {
		id, err := c.h.client.FindKey(c.ctx, key)
		if errors.Is(err, journal.ErrNotFound) {
			return id, noRun(arg)
		}
		return id, err
	}
	id, err := journal.ParseRunID(arg)
	if err != nil {
		return id, refuse(invalidRequest, "run %q is neither the id of a run nor key=KEY", arg)
	}
	return id, nil
}

// read returns the row of a run, nil if there is none.
func (c *call) read(id journal.RunID) (*journal.Run, error) {
	page, err := c.h.client.List(c.ctx, journal.ListFilter{IDs: []journal.RunID{id}})
	if err != nil || len(page.Runs) == 0 {
		return nil, err
	}
	return &page.Runs[0], nil
}

// mustRead returns the row of a run.
func (c *call) mustRead(id journal.RunID) (*journal.Run, error) {
	row, err := c.read(id)
	if err == nil && row == nil {
		err = noRun(id.String())
	}
	return row, err
}

// now estimates the store's clock.
func (h *handler) now() time.Time {
	if at := h.journal.Now(); !at.IsZero() {
		return at
	}
	return time.Now()
}

// done says what was done to a run.
func (c *call) done(run journal.RunID, what string, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return &record.Sent{Run: run.String(), Done: what}, nil
}

// because gives a reason that is in a body to a context.
func (c *call) because(reason string) context.Context { return runtime.WithReason(c.ctx, reason) }

// discreet takes out of an error what the actor may not know.
func (c *call) discreet(err error) error {
	held, ok := errors.AsType[*journal.KeyConflictError](err)
	if !ok || c.h.o.Allow == nil {
		return err
	}
	if row, e := c.read(held.Run); e == nil && row != nil && c.sees(row) {
		return err
	}
	return refuse(keyConflict, "key %q belongs to another run", held.Key)
}

// unescape reads a part of a path.
func unescape(part string) (string, error) {
	text, err := url.PathUnescape(part)
	if err != nil {
		return "", fmt.Errorf("the path: %w", err)
	}
	return text, nil
}
