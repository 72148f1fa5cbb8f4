package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// callMax is how long a client waits for a call before it tries again: with the same key, so that
// it happens once.
const callMax = 3 * time.Second

// running is one run of the plan, as the world outside sees it.
type running struct {
	plan   *runPlan
	number int           // of the run of the plan that it is, or descends from
	of     int           // the instruction that started it; 0 for a run of the plan
	from   journal.RunID // a child's parent, which its client may not know yet
	parent *running      // set when all is over
	id     journal.RunID

	acknowledged []string // payloads of signals that were accepted, each before the next was sent
	refused      []string // payloads of signals that came too late: the run was closed
	cancels      bool     // a cancel request was sent
	settled      bool     // every signal that it may wait for was sent
	terminated   bool     // an operator tried to close it

	calls []*answered

	heard   bool // its result was
	out     outcome
	failure error
}

// name is for people.
func (r *running) name() string {
	if r.of == 0 {
		return fmt.Sprintf("%d", r.number)
	}
	return fmt.Sprintf("%d/%d", r.number, r.of)
}

// key is the run's own name.
func (r *running) key() string { return fmt.Sprintf("run-%d", r.number) }

// drive is the client of one run. It does one thing after the other.
func (w *world) drive(r *running) {
	time.Sleep(r.plan.At)
	handle := w.start(r)
	if handle == nil {
		return
	}
	w.mu.Lock()
	r.id = handle.ID()
	w.mu.Unlock()
	w.drivers.Go(func() { w.listen(r) })
	for i := range r.plan.Sends {
		s := &r.plan.Sends[i]
		time.Sleep(s.At - w.elapsed())
		w.send(r, s, i+1)
	}
}

// send does one thing to the run.
func (w *world) send(r *running, s *send, n int) {
	payload := fmt.Sprintf("%d.%d", r.number, n)
	client := w.clients[0].client
	switch s.Do {
	case sendSignal:
		w.signal(r, s, payload)
	case sendUpdate:
		c := call{payload, 1000 + n, s.Call}
		w.drivers.Go(func() { w.call(r, c, w.through(s.Via)) })
		if s.Twice {
			w.drivers.Go(func() { w.call(r, c, w.clients[1].client) })
		}
	case sendQuery:
		w.drivers.Go(func() { w.look(r, s.Via) })
	case sendCancel:
		r.cancels = true
		w.insist("cancel", func(ctx context.Context) error { return client.Cancel(ctx, r.id, "by plan") })
	case sendResume:
		w.insist("resume", func(ctx context.Context) error { return client.Resume(ctx, r.id) })
	case sendTerminate:
		r.terminated = true
		w.insist("terminate", func(ctx context.Context) error { return client.Terminate(ctx, r.id, "by plan") })
	}
}

// through returns the client that a plan names, or the first one if its node is down.
func (w *world) through(via int) *runtime.Client {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.nodes[via]; p != nil {
		return p.client
	}
	return w.clients[0].client
}

// start starts the run, through the node that the plan names if that can, else through a client.
func (w *world) start(r *running) *runtime.Run[outcome] {
	client := w.through(r.plan.Via)
	o := &runtime.StartOptions{Key: r.key(), Delay: r.plan.Delay}
	in := job{Root: r.number, Program: r.plan.Program}
	payload := fmt.Sprintf("%d.0", r.number)
	start := func(ctx context.Context) (*runtime.Run[outcome], error) {
		return runtime.Start(ctx, client, program, in, o)
	}
	switch r.plan.With {
	case sendSignal:
		start = func(ctx context.Context) (*runtime.Run[outcome], error) {
			run, err := runtime.SignalWithStart(ctx, client, program, in, workflow.Signal[string](signalNames[0]), payload, o,
				&runtime.SignalOptions{Key: payload})
			if err == nil {
				r.acknowledged = append(r.acknowledged, payload)
			}
			return run, err
		}
	case sendUpdate:
		start = func(ctx context.Context) (*runtime.Run[outcome], error) {
			return w.callWithStart(ctx, r, client, in, o)
		}
	}
	for w.ctx.Err() == nil {
		ctx, cancel := context.WithTimeout(w.ctx, callMax)
		run, err := start(ctx)
		cancel()
		if err == nil {
			return run
		}
		if ctx.Err() == nil {
			w.breaks("client", "start of %s: %v", r.key(), err)
			return nil
		}
		client = w.clients[0].client
	}
	w.breaks("client", "%s could not be started", r.key())
	return nil
}

// listen waits for the run's result.
func (w *world) listen(r *running) {
	out, err := runtime.RunOf(w.clients[0].client, program, r.id).Result(w.ctx)
	if w.ctx.Err() != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	r.heard, r.out, r.failure = true, out, err
}

// insist repeats a call to a run until it has an answer: nil, or that the run is closed.
func (w *world) insist(what string, call func(context.Context) error) (accepted bool) {
	for w.ctx.Err() == nil {
		ctx, cancel := context.WithTimeout(w.ctx, callMax)
		err := call(ctx)
		cancel()
		switch {
		case err == nil:
			return true
		case errors.Is(err, journal.ErrClosed):
			return false
		case errors.Is(err, journal.ErrUnavailable): // operators' calls are not repeated by the client
			time.Sleep(callMax / 10)
		case ctx.Err() == nil:
			w.breaks("client", "%s: %v", what, err)
			return false
		}
	}
	return false
}

func (w *world) signal(r *running, s *send, payload string) {
	call := func(first *runtime.Client) bool {
		client := first
		return w.insist("signal", func(ctx context.Context) error {
			defer func() { client = w.clients[0].client }() // a node may be gone for good
			return runtime.Signal(ctx, client, r.id, workflow.Signal[string](s.Signal), payload, &runtime.SignalOptions{Key: payload})
		})
	}
	other := make(chan bool, 1)
	if s.Twice {
		w.drivers.Go(func() { other <- call(w.clients[1].client) })
	} else {
		other <- false
	}
	accepted := call(w.through(s.Via))
	accepted = <-other || accepted
	w.mu.Lock()
	defer w.mu.Unlock()
	if accepted {
		r.acknowledged = append(r.acknowledged, payload)
	} else {
		r.refused = append(r.refused, payload)
	}
}

// settle sends every open run as many signals as its program can wait for.
func (w *world) settle() {
	for _, open := range w.open() {
		w.mu.Lock()
		r := w.run(open.ID)
		w.mu.Unlock()
		if r == nil || r.settled {
			continue
		}
		r.settled = true
		wants := receives(r.plan.Program)
		for _, name := range signalNames {
			for i := range wants[name] {
				w.signal(r, &send{Signal: name}, fmt.Sprintf("%s.%s%d", r.name(), name, i+1))
			}
		}
	}
}

// decodeSignal reads a signal's payload, or a step's output.
func decodeSignal(p journal.Payload) string {
	var v string
	if err := (journal.JSON{}).Decode(p, &v); err != nil {
		return err.Error()
	}
	return v
}

// signalNames are the signals that programs wait for.
var signalNames = []string{"a", "b", "c"}
