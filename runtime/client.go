package runtime

import (
	"errors"
	"time"

	"github.com/reprise-run/reprise/internal/batch"
	"github.com/reprise-run/reprise/internal/intercept"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/internal/held"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
	"github.com/reprise-run/reprise/runtime/internal/waiters"
)

// Client starts runs and talks to them. It needs no code of the workflows. Make one with
// [NewClient], or take that of a node, [Node.Client]. All of its methods, and the functions that
// take a client, may be called from many goroutines.
//
// # What a call promises
//
// A start or a message is durable when the call returns nil (J10). Calls that are made at the same
// time are written in one transaction, and one that is alone is written at once. While the store is
// unavailable the call is repeated until its context ends; without a deadline it waits as long as
// that lasts. A call whose context ends may have taken effect: repeat it with the same key
// (StartOptions.Key, SignalOptions.Key, UpdateOptions.Key) to find out, which never makes it take
// effect twice.
//
// # What a client costs
//
// Nothing while nothing is called: no connection, no goroutine. While at least one caller waits for
// a result or for the answer to an update, one goroutine serves all of them.
//
// The client of a node and the node share the node's process: runs that the client starts are owned
// by the node at once, and their results need no read. Otherwise there is no difference.
type Client struct {
	j       *driver.Journal
	node    *localNode // nil for a client without a node
	tel     *telemetry
	around  intercept.Chain[asked]
	waiters *waiters.Waiters
	starts  *batch.Batcher[call[journal.Start], answer[journal.Started]]
	sends   *batch.Batcher[call[journal.Message], answer[journal.Sent]]
	warner  *routeWarner
	signals signalWarner

	actorName string // for the audit; empty for the default

	heldKeys held.Log[string]        // of starts
	heldRuns held.Log[journal.RunID] // of messages
	late     held.Log[journal.RunID] // of starts and messages that took too long alone
	slow     held.Slow
}

// NewClient returns a client without a node. There is nothing to close. o may be nil.
func NewClient(j *journal.Journal, o *ClientOptions) *Client {
	c := o.withDefaults()
	client := newClient(driver.Of(j), nil, c.Poll, newTelemetry(c.TracerProvider, nil, c.Logger), c.Interceptors)
	client.actorName = c.Actor
	return client
}

// JournalOf returns the journal that a client reads and writes.
func JournalOf(c *Client) *journal.Journal { return c.j.Journal }

func newClient(j *driver.Journal, node *localNode, poll time.Duration, tel *telemetry, list []Interceptor) *Client {
	c := &Client{j: j, node: node, tel: tel, around: aroundCalls(list), warner: newRouteWarner(j, tel.log), signals: signalWarner{nodes: j.Nodes, log: tel.log}}
	c.waiters = waiters.New(j, waiters.Options{Poll: poll, Unanswered: unanswered})
	c.starts = batch.New(batch.SizeMax, c.writeStarts)
	c.sends = batch.New(batch.SizeMax, c.writeSends)
	c.starts.SetAside(func(a answer[journal.Started]) bool { return errors.Is(a.out.Err, driver.ErrHeld) })
	c.sends.SetAside(func(a answer[journal.Sent]) bool { return errors.Is(a.out.Err, driver.ErrHeld) })
	c.starts.SetSize(func(s call[journal.Start]) int { return driver.StartBytes(&s.in) })
	c.sends.SetSize(func(m call[journal.Message]) int { return driver.MessageBytes(&m.in) })
	c.starts.SetDivide(tookLong[journal.Started])
	c.sends.SetDivide(tookLong[journal.Sent])
	c.late.Log, c.late.Key, c.late.What = tel.log, logkey.Run, held.LateCall
	c.heldKeys.Log, c.heldKeys.Key = tel.log, logkey.RunKey
	c.heldKeys.What = "another transaction has started a run under a key and is open; the start waits until that ends"
	c.slow = held.Slow{Log: tel.log, What: held.SlowCall, Away: j.Away}
	c.heldRuns.Log, c.heldRuns.Key = tel.log, logkey.Run
	c.heldRuns.What = "another transaction has locked a run; the message waits until that ends"
	return c
}
