package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// client is a process that starts runs under keys, repeats what fails, and writes down what was
// acknowledged to it.
type client struct {
	*work
	name   string
	diary  *diary
	client *runtime.Client
	of     workflow.Name[order, outcome]
	began  time.Time

	mu   sync.Mutex
	next int // guarded by mu
}

// callTries is the pause before a call is repeated.
const callTries = 50 * time.Millisecond

// runClient returns when the client has the results of all runs that it has started, or knows that
// they are gone. After closing it starts no more.
func runClient(ctx context.Context, j *journal.Journal, w *work, d *diary, closing <-chan struct{}) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	c := &client{
		work: w, name: d.by, diary: d, began: time.Now(), of: workflow.Name[order, outcome](w.Workflow),
		client: runtime.NewClient(j, &runtime.ClientOptions{Logger: log}),
	}
	var callers sync.WaitGroup
	for i := range w.Parallel {
		callers.Go(func() {
			c.waitFor(ctx, c.began.Add(w.Over*time.Duration(i)/time.Duration(w.Parallel)))
			for ctx.Err() == nil {
				select {
				case <-closing:
					return
				default:
				}
				o, ok := c.take()
				if !ok {
					return
				}
				c.run(ctx, o)
			}
		})
	}
	callers.Wait()
	return nil
}

// take makes the order of the next run.
func (c *client) take() (order, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Runs > 0 && c.next == c.Runs {
		return order{}, false
	}
	c.next++
	o := c.Each
	o.Key = fmt.Sprintf("%s/%d", c.name, c.next)
	return o, true
}

// run starts one run and sees it to its end.
func (c *client) run(ctx context.Context, o order) {
	var r *runtime.Run[outcome]
	if c.again(ctx, o.Key, func(ctx context.Context) (err error) {
		r, err = runtime.Start(ctx, c.client, c.of, o, &runtime.StartOptions{Key: o.Key})
		return err
	}) != nil {
		return
	}
	c.diary.write(entry{What: started, Key: o.Key, Run: r.ID().String()})
	if c.of == receiver && !c.signal(ctx, o, r.ID()) {
		return
	}
	var out outcome
	err := c.again(ctx, o.Key, func(ctx context.Context) (err error) {
		out, err = r.Result(ctx)
		return err
	})
	switch {
	case errors.Is(err, journal.ErrNotFound):
		c.diary.write(entry{What: gone, Key: o.Key, Run: r.ID().String()})
	case err == nil:
		said, err := json.Marshal(out)
		if err != nil {
			panic(err) // an outcome is texts
		}
		c.diary.write(entry{What: resulted, Key: o.Key, Run: r.ID().String(), Value: string(said)})
	}
}

// signal sends what the run waits for. It tells whether all was sent.
func (c *client) signal(ctx context.Context, o order, run journal.RunID) bool {
	for i := range o.Steps {
		err := c.again(ctx, o.Key, func(ctx context.Context) error { return c.say(ctx, run, o, i) })
		switch {
		case errors.Is(err, journal.ErrNotFound), errors.Is(err, journal.ErrClosed):
			c.diary.write(entry{What: gone, Key: o.Key, Run: run.String()})
			return false
		case err != nil:
			return false
		}
		c.diary.write(entry{What: signalled, Key: o.Key, Run: run.String(), Value: o.signal(i)})
		c.waitFor(ctx, time.Now().Add(o.Gap))
	}
	return true
}

// say sends one signal, under a key of its own: sent twice it arrives once.
func (c *client) say(ctx context.Context, run journal.RunID, o order, i int) error {
	return runtime.Signal(ctx, c.client, run, word, o.signal(i), &runtime.SignalOptions{Key: o.signal(i)})
}

// again repeats a call until it is answered with something that another try cannot change.
// Everything here has a key, so a repetition is safe.
func (c *client) again(ctx context.Context, key string, call func(context.Context) error) error {
	for {
		limited, cancel := context.WithTimeout(ctx, c.Call)
		err := call(limited)
		cancel()
		var failed *runtime.FailedError
		switch {
		case err == nil, errors.Is(err, journal.ErrNotFound), errors.Is(err, journal.ErrClosed), ctx.Err() != nil:
			return err
		case errors.As(err, &failed):
			c.diary.write(entry{What: refused, Key: key, Value: "the run has failed: " + err.Error()})
			return err
		}
		c.diary.write(entry{What: refused, Key: key, Value: err.Error()})
		c.waitFor(ctx, time.Now().Add(callTries))
	}
}

func (c *client) waitFor(ctx context.Context, until time.Time) {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
