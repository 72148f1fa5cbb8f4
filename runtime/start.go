package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
)

// StartOptions of a run. The zero value means the defaults.
type StartOptions struct {
	// Key is the caller's own name for the run, such as "order:9182". At most one open run has a
	// key (J8), which makes the start idempotent. Empty for none. Like all keys it is UTF-8 of at
	// most journal.KeyBytesMax bytes without control characters, and does not begin with ~.
	Key string
	// Reuse says what happens if a closed run has the key; default journal.ReuseReject, which gives
	// that run.
	Reuse journal.Reuse
	// Version of the workflow, which the run keeps; default 1.
	Version int32
	// Queue whose nodes execute the run; default journal.DefaultQueue.
	Queue string
	// Priority from 1, the most urgent, to 5; default 3. Of eight places that a node has for due
	// runs, seven go to the most urgent, and among equals to those that have been due for longest;
	// the eighth goes to the run that has been due for longest, whatever its priority. Slots for
	// steps go the same way: seven of eight to the most urgent priority that waits, the eighth to
	// the one that has gone without for longest, and the runs of a priority take turns. So urgent
	// runs lose at most an eighth to the others, and none waits for ever: a run gets a place at the
	// latest when eight times as many have been given out as there were older due runs.
	Priority int16
	// Labels for [Client.List], at most journal.LabelsMax. They are copied.
	Labels map[string]string
	// Delay is how long the run's code does not begin, by the store's clock; default none, at most
	// journal.DelayMax. A message to the run ends the delay.
	Delay time.Duration
	// Headers are for the code that the run executes, such as the tenant or the user for whom it
	// works: workflow.Info.Headers and, in a step, workflow.StepInfo have them. Children inherit
	// them; what a step starts with a client gets them by [Propagate]. They are no labels: nobody
	// can look for them. At most journal.HeadersMax, of journal.HeadersBytesMax bytes together.
	// They are copied.
	Headers map[string]string
	// Timeout is how long the run may take, counted from when its code may begin, over all its
	// generations; default HandleOptions.Timeout, else as long as it takes; at most
	// journal.DelayMax. When the time is up the run is cancelled, so that it can clean up; its
	// waits return workflow.ErrTimeout instead of ErrCancelled, and if its function returns that,
	// the run has failed. The time of a run that is blocked, or that no node serves, is up when a
	// node goes on with it.
	Timeout time.Duration
	// OnFailure names the workflow that is started if the run fails, with a workflow.FailedRun, in
	// the commit that closes the run: version 1, in the run's queue, as a child that outlives it.
	// It is not started if the run is cancelled or terminated. Default none. See also
	// HandleOptions.OnFailure.
	OnFailure string
	// Limits are what the run holds from its first turn until it closes ([SetLimit]): over all of
	// its generations, whatever becomes of nodes, and while it is parked or paused. It begins when
	// it has all of them. Until then it is [journal.Limited] and costs the nodes nothing. Messages
	// to it wait, a cancel request among them; [Client.Terminate] ends it at once. What a step
	// needs while it is executed, workflow.StepOptions.Limits says. Default none; at most
	// journal.LimitNeedsMax, each of another name. They are copied. What HandleOptions.Limits of
	// its workflow and NodeOptions.QueueLimits of its queue name is added; of two that name one
	// limit this one holds, with its key and its cost.
	Limits []journal.LimitNeed
	// Tx starts the run exactly if and when this transaction commits: postgres.InTx(tx). The call
	// returns before that. In the transaction of a step the start is written when the step commits:
	// if another run takes the key meanwhile, the attempt fails, and the next one is told.
	Tx journal.Tx
}

// Start starts a run of a workflow and returns a handle on it. It does not wait for the run, and no
// node need be there. If an open run has o.Key, Start returns that run, whose input may be another
// one: see [Run.Created]. o may be nil.
//
// Errors: a *journal.KeyConflictError if a run of another workflow has the key; a
// *journal.LimitFullError if as many runs wait for one of o.Limits as may; journal.ErrInvalid and a
// *journal.LimitError for what cannot be stored; ctx's, after which the run may have been started.
// A repeated start with the same key returns it.
func Start[In, Out any](
	ctx context.Context, c *Client, name workflow.Name[In, Out], in In, o *StartOptions,
) (*Run[Out], error) {
	started, err := startRun(ctx, c, name, in, nil, o)
	if err != nil {
		return nil, err
	}
	return handleOf(c, name, started), nil
}

// handleOf returns the handle that a start gives.
func handleOf[In, Out any](c *Client, _ workflow.Name[In, Out], s journal.Started) *Run[Out] {
	return &Run[Out]{c: c, id: s.Run, created: s.Created, local: s.Owned}
}

// startRun starts a run with a message in the same transaction, nil for none. o may be nil.
func startRun[In, Out any](
	ctx context.Context, c *Client, name workflow.Name[In, Out], in In, with *startMessage, o *StartOptions,
) (journal.Started, error) {
	var value any = in
	input, err := c.j.Encode("input", value)
	if err != nil {
		return journal.Started{}, fmt.Errorf("start %s: %w", name, err)
	}
	ctx, end := c.tel.start(ctx, string(name))
	call := Call{Kind: StartCall, Workflow: string(name), Payload: value, Start: o, With: with.call()}
	started, err := intercepted(ctx, c, call, func(ctx context.Context, call *Call) (journal.Started, error) {
		o := o
		if call != nil {
			o = call.Start
		}
		started, err := c.startOne(ctx, string(name), input, with, o)
		if err == nil && call != nil {
			call.Run = started.Run
		}
		return started, err
	})
	end(started.Run, err)
	return started, err
}

// startOne is startRun without interceptors.
func (c *Client) startOne(
	ctx context.Context, name string, input journal.Payload, with *startMessage, o *StartOptions,
) (journal.Started, error) {
	if o == nil {
		o = &StartOptions{}
	}
	if err := with.check(name, o); err != nil {
		return journal.Started{}, err
	}
	route := routeOf(name, o.Version, o.Queue)
	st := journal.Start{
		ID: journal.NewRunID(), Key: o.Key, Reuse: o.Reuse,
		Workflow: route.Workflow, Version: route.Version, Queue: route.Queue, Priority: o.Priority,
		Labels: maps.Clone(o.Labels), Headers: maps.Clone(o.Headers), // it may be written after the caller has gone
		Input: input, Delay: o.Delay, Timeout: o.Timeout, OnFailure: o.OnFailure, Limits: o.Limits,
		Trace: traceparent(ctx), Message: with.message(),
	}
	if err := c.node.needs(c.j.Codec(), &st); err != nil {
		return journal.Started{}, fmt.Errorf("start %s: %w", name, err)
	}
	st.SetDefaults() // the node may execute it as it is here
	started, err := c.start(ctx, st, o.Tx)
	if err != nil {
		return journal.Started{}, fmt.Errorf("start %s: %w", name, err)
	}
	if started.Created && !started.Owned {
		c.warnOf(route)
	}
	if with == nil {
		return started, nil
	}
	if err := started.Sent.Err; err != nil {
		return journal.Started{}, fmt.Errorf("%s %s to run %s: %w", with.Kind, with.Name, started.Run, err)
	}
	c.noteSignal(started.Run, route, &with.Message)
	return started, nil
}

// warnOf warns if nobody serves the route of a run that waits.
func (c *Client) warnOf(route journal.Route) {
	switch {
	case !c.node.serves(route):
		c.warner.check(route)
	case !c.node.joined():
		c.warner.checkLater(route)
	}
}

// start writes one start: in the caller's transaction, else with others.
func (c *Client) start(ctx context.Context, s journal.Start, tx journal.Tx) (journal.Started, error) {
	var started journal.Started
	var err error
	if tx == nil {
		started, err = submit(ctx, c.starts, s)
	} else {
		out, err := c.j.Start(ctx, tx, []journal.Start{s})
		if err != nil {
			return journal.Started{}, err
		}
		started = out[0]
	}
	if err := c.callerError(ctx, "start", s.ID, errors.Join(err, started.Err), c.heldKeys.Held(s.Key)); err != nil {
		return journal.Started{}, err
	}
	return started, nil
}

// writeStarts writes a batch of starts. Runs that the client's node can execute at once are owned
// by it since their start.
func (c *Client) writeStarts(calls []call[journal.Start]) []answer[journal.Started] {
	own := c.node.starts()
	defer own.End()
	starts := inputs(calls)
	for i := range starts {
		own.Own(&starts[i])
	}
	run, key, n := starts[0].ID, starts[0].Key, len(starts)
	defer c.slow.Watch(func() []any { return []any{logkey.RunKey, key, "starts", n} })()
	started, err := callStore(calls, func(ctx context.Context) ([]journal.Started, error) {
		return c.j.Start(driver.Impatient(ctx), nil, starts)
	})
	c.noteLate(run, n, err)
	for i := range starts {
		if starts[i].Key != "" {
			c.heldKeys.Note(starts[i].Key, err == nil && errors.Is(started[i].Err, driver.ErrHeld))
		}
		if err != nil {
			own.Settle(&starts[i], nil)
			continue
		}
		own.Settle(&starts[i], &started[i])
	}
	return answers(len(calls), started, err)
}
