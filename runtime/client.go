package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/reprise-run/reprise/internal/batch"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/internal/retry"
	"github.com/reprise-run/reprise/runtime/internal/waiters"
	"github.com/reprise-run/reprise/runtime/internal/worker"
)

// Client starts runs and talks to them. It needs no code of the workflows. Its methods may be called from many
// goroutines, and calls that meet are written together.
type Client struct {
	j       *journal.Journal
	node    *localNode // nil for a client without a node
	tel     *telemetry
	waiters *waiters.Waiters
	starts  *batch.Batcher[startCall, startAnswer]
	sends   *batch.Batcher[sendCall, sendAnswer]
	served  servedWarner
}

type (
	startCall struct {
		ctx   context.Context
		start journal.Start
	}
	startAnswer struct {
		started journal.Started
		err     error
	}
	sendCall struct {
		ctx     context.Context
		message journal.Message
	}
	sendAnswer struct {
		sent journal.Sent
		err  error
	}
)

// NewClient returns a client. It holds no resources while nothing is called. o may be nil.
func NewClient(j *journal.Journal, o *ClientOptions) *Client {
	c := o.withDefaults()
	return newClient(j, nil, c.Poll, newTelemetry(c.TracerProvider, nil, c.Logger))
}

func newClient(j *journal.Journal, node *localNode, poll time.Duration, tel *telemetry) *Client {
	c := &Client{j: j, node: node, tel: tel, waiters: waiters.New(j, waiters.Options{Poll: poll, HintsPushed: node != nil, Unanswered: unanswered})}
	c.starts = batch.New(batch.SizeMax, c.writeStarts)
	c.sends = batch.New(batch.SizeMax, c.writeSends)
	return c
}

// StartOptions of a run. The zero value means the defaults.
type StartOptions struct {
	Key      string        // the caller's own name for the run; makes the start idempotent
	Reuse    journal.Reuse // what to do if a closed run has the key
	Version  int32         // default 1
	Queue    string        // default journal.DefaultQueue
	Priority int16         // 1 (first) to 5; default 3
	Labels   map[string]string
	Delay    time.Duration // until it may run; a signal that comes later wakes it at once
	// Tx starts the run exactly if and when this transaction commits: postgres.InTx(tx).
	Tx journal.Tx
}

// Start starts a run of a workflow. With a key that a run already has it returns that run. Errors: a
// *journal.KeyConflictError, journal.ErrInvalid for input that cannot be stored, and ctx's: the run may have been started then, and
// a repeated start with the same key tells.
func Start[In, Out any](ctx context.Context, c *Client, name workflow.Name[In, Out], in In, o *StartOptions) (*Run[Out], error) {
	started, err := startRun(ctx, c, name, in, nil, o)
	if err != nil {
		return nil, err
	}
	return &Run[Out]{c: c, id: started.Run, created: started.Created, local: started.Owned}, nil
}

// startRun starts a run with a message that goes along, nil for none. o may be nil.
func startRun[In, Out any](ctx context.Context, c *Client, name workflow.Name[In, Out], in In, m *journal.Message, o *StartOptions) (journal.Started, error) {
	input, err := c.j.Encode("input", in)
	if err != nil {
		return journal.Started{}, fmt.Errorf("start %s: %w", name, err)
	}
	if o == nil {
		o = &StartOptions{}
	}
	ctx, end := c.tel.start(ctx, string(name))
	started, err := c.start(ctx, journal.Start{
		ID: journal.NewRunID(), Key: o.Key, Reuse: o.Reuse, Workflow: string(name), Version: o.Version, Queue: o.Queue,
		Priority: o.Priority, Labels: o.Labels, Input: input, Delay: o.Delay, Trace: traceparent(ctx), Message: m,
	}, o.Tx)
	end(started.Run, err)
	if err != nil {
		return journal.Started{}, fmt.Errorf("start %s: %w", name, err)
	}
	return started, nil
}

func (c *Client) start(ctx context.Context, s journal.Start, tx journal.Tx) (journal.Started, error) {
	route := routeOf(s.Workflow, s.Version, s.Queue)
	s.Version, s.Queue = route.Version, route.Queue
	var a startAnswer
	if tx != nil {
		out, err := c.j.Start(ctx, tx, []journal.Start{s})
		if err != nil {
			return journal.Started{}, err
		}
		a.started = out[0]
	} else {
		answer := make(chan startAnswer, 1)
		c.starts.SubmitInline(startCall{ctx: ctx, start: s}, func(a startAnswer) { answer <- a })
		select {
		case a = <-answer:
		case <-ctx.Done():
			return journal.Started{}, ctx.Err()
		}
	}
	if err := answered(ctx, errors.Join(a.err, a.started.Err)); err != nil {
		return journal.Started{}, err
	}
	if a.started.Created && !a.started.Owned && (!c.node.serves(route)) {
		c.served.check(c, route)
	}
	return a.started, nil
}

// localNode is what a node's own client knows of the node. Node and client both hold it, and neither needs to know
// the other. A nil localNode is that of a client without a node.
type localNode struct {
	worker   atomic.Pointer[worker.Worker] // of the present membership; nil while the node is not a member
	registry *registry
}

// starts begins a batch of starts, of which the node may own some.
func (n *localNode) starts() worker.StartBatch {
	if n == nil {
		return worker.StartBatch{}
	}
	return n.worker.Load().Starts()
}

// serves tells whether the node has registered the route.
func (n *localNode) serves(r journal.Route) bool { return n != nil && n.registry.serves(r) }

// writeStarts writes a batch of starts. Runs that the client's node can execute at once are owned by it since their
// start.
func (c *Client) writeStarts(calls []startCall) []startAnswer {
	own := c.node.starts()
	defer own.End()
	starts := make([]journal.Start, len(calls))
	for i := range calls {
		starts[i] = calls[i].start
		own.Own(&starts[i])
	}
	started, err := batch.CallShared(calls, func(c *startCall) context.Context { return c.ctx },
		func(ctx context.Context) (out []journal.Started, err error) {
			err = retry.UntilAvailable(ctx, func() (err error) {
				out, err = c.j.Start(ctx, nil, starts)
				return err
			})
			return out, err
		})
	out := make([]startAnswer, len(calls))
	for i := range out {
		if err != nil {
			out[i].err = err
			own.Settle(&starts[i], nil)
			continue
		}
		out[i].started = started[i]
		own.Settle(&starts[i], &started[i])
	}
	return out
}
