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
	fork   int           // which one of all forks it is; 0 for none
	of     int           // the instruction that started it; 0 for a run of the plan
	from   journal.RunID // a child's parent, which its client may not know yet
	parent *running      // set when all is over
	id     journal.RunID

	done       []done   // what clients have an answer to, each before the next was sent
	cancels    bool     // a cancel request was sent
	settled    bool     // every signal that it may wait for was sent
	terminated bool     // an operator tried to close it
	labels     []string // that an operator has set, and the store has acknowledged

	calls    []*answered
	waitedIn []*process // in which a query has waited in vain for its owner

	ear     int                // of who waits for its result: somebody who has begun to before a rewind does not count
	since   journal.Generation // in which the run was when he began
	heard   bool               // its result was
	heardAt time.Duration
	out     outcome
	failure error
}

// name is for people.
func (r *running) name() string {
	switch {
	case r.fork != 0:
		return fmt.Sprintf("%df%d", r.number, r.fork)
	case r.of == 0:
		return fmt.Sprintf("%d", r.number)
	}
	return fmt.Sprintf("%d/%d", r.number, r.of)
}

// key is the run's own name.
func (r *running) key() string { return fmt.Sprintf("run-%d", r.number) }

// drive is the client of one run. It does one thing after the other.
func (w *world) drive(r *running) {
	time.Sleep(r.plan.At)
	w.begin(r)
	for i := range r.plan.Sends {
		s := &r.plan.Sends[i]
		time.Sleep(s.At - w.elapsed())
		w.send(r, s, i+1)
	}
}

// begin starts the run and waits for its result.
func (w *world) begin(r *running) {
	if id := w.start(r); !id.IsZero() {
		w.mu.Lock()
		ear := r.ear
		w.mu.Unlock()
		w.drivers.Go(func() { w.listen(r, id, ear) })
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
		w.tell(r, s, payload, func(ctx context.Context) error { return client.Cancel(ctx, w.idOf(r), "by plan") })
	case sendPause:
		if s.Pause.Nth == 0 {
			w.drivers.Go(func() { w.pause(r, s) })
		}
	case sendRetry, sendReset, sendFork, sendSkip, sendEdit:
		if s.Back.Nth == 0 {
			w.drivers.Go(func() { w.back(r, s) })
		}
	case sendLabel:
		w.drivers.Go(func() { w.label(r, n) })
	case sendPriority:
		w.drivers.Go(func() { w.prioritize(r, s.Priority) })
	case sendResume:
		w.tell(r, s, payload, func(ctx context.Context) error { return client.Resume(ctx, w.idOf(r)) })
	case sendTerminate:
		r.terminated = true
		w.tell(r, s, payload, func(ctx context.Context) error { return client.Terminate(ctx, w.idOf(r), "by plan") })
	}
}

// tell does something to a run that has no answer but that it was done.
func (w *world) tell(r *running, s *send, payload string, call func(context.Context) error) {
	w.repeat(r, func() (done, bool) {
		w.insist(string(s.Do), call)
		return done{payload: string(s.Do) + payload, again: func() { w.tell(r, s, payload, call) }}, true
	})
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

// start starts the run, through the node that the plan names if that can, else through a client. A
// start that the database may have lost is made again: its key finds the run, if it is there.
func (w *world) start(r *running) journal.RunID {
	client := w.through(r.plan.Via)
	o := &runtime.StartOptions{Key: r.key(), Delay: r.plan.Delay, Timeout: r.plan.Timeout, Limits: w.plan.needs(r.plan)}
	in := job{Root: r.number, Program: r.plan.Program}
	payload := fmt.Sprintf("%d.0", r.number)
	start := func(ctx context.Context) (*runtime.Run[outcome], error) {
		return runtime.Start(ctx, client, program, in, o)
	}
	var with done
	switch r.plan.With {
	case sendSignal:
		s := &send{Signal: signalNames[0]}
		with = done{payload: payload, signal: true, again: func() { w.signal(r, s, payload) }}
		start = func(ctx context.Context) (*runtime.Run[outcome], error) {
			return runtime.SignalWithStart(ctx, client, program, in, workflow.Signal[string](signalNames[0]), payload, o,
				&runtime.SignalOptions{Key: payload})
		}
	case sendUpdate:
		start = func(ctx context.Context) (*runtime.Run[outcome], error) {
			return w.callWithStart(ctx, r, client, in, o)
		}
	}
	for w.ctx.Err() == nil {
		epoch := w.now()
		ctx, cancel := context.WithTimeout(w.ctx, callMax)
		run, err := start(ctx)
		late := ctx.Err() != nil
		cancel()
		switch {
		case err == nil && w.started(r, epoch, run.ID(), with):
			return run.ID()
		case errors.Is(err, journal.ErrClosed) && w.plan.pushes(r.plan): // and its message is not sent
			if id := w.stored(r); !id.IsZero() && w.started(r, epoch, id, done{}) {
				return id
			}
		case isFull(err):
			w.mu.Lock()
			w.refused++
			w.mu.Unlock()
			time.Sleep(callMax / 10)
		case err != nil && !late && w.now() == epoch:
			w.breaks("client", "start of %s: %v", r.key(), err)
			return journal.RunID{}
		}
		client = w.clients[0].client
	}
	w.breaks("client", "%s could not be started", r.key())
	return journal.RunID{}
}

// started notes the id of a run, and the signal that came with its start, unless the database has
// gone back since an epoch.
func (w *world) started(r *running, epoch int, id journal.RunID, with done) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.epoch != epoch {
		return false
	}
	r.id = id
	if with.payload != "" {
		with.at = w.elapsed()
		r.done = append(r.done, with)
	}
	return true
}

// listen waits for the run's result.
func (w *world) listen(r *running, id journal.RunID, ear int) {
	for {
		epoch := w.now()
		out, err := runtime.RunOf(w.clients[0].client, program, id).Result(w.ctx)
		if w.ctx.Err() != nil {
			return
		}
		if known := w.hear(r, id, ear, epoch, out, err); known {
			return
		}
	}
}

// hear notes a result. It is false if the database has gone back since an epoch and the run is still
// there: it may end otherwise.
func (w *world) hear(r *running, id journal.RunID, ear, epoch int, out outcome, err error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.id != id || r.ear != ear {
		return true // somebody else listens to the run that has taken its place, or to its next end
	}
	if w.epoch != epoch {
		return false
	}
	r.heard, r.heardAt, r.out, r.failure = true, w.elapsed(), out, err
	return true
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
		case errors.Is(err, journal.ErrNotFound) && w.now() > 0: // it is started again
			time.Sleep(callMax / 10)
		case ctx.Err() == nil:
			w.breaks("client", "%s: %v", what, err)
			return false
		}
	}
	return false
}

func (w *world) signal(r *running, s *send, payload string) {
	w.repeat(r, func() (done, bool) {
		accepted := w.signalOnce(r, s, payload)
		return done{payload: payload, signal: true, refused: !accepted, again: func() { w.signal(r, s, payload) }}, true
	})
}

func (w *world) signalOnce(r *running, s *send, payload string) (accepted bool) {
	call := func(first *runtime.Client) bool {
		client := first
		return w.insist("signal", func(ctx context.Context) error {
			defer func() { client = w.clients[0].client }() // a node may be gone for good
			return runtime.Signal(ctx, client, w.idOf(r), workflow.Signal[string](s.Signal), payload, &runtime.SignalOptions{Key: payload})
		})
	}
	other := make(chan bool, 1)
	if s.Twice {
		w.drivers.Go(func() { other <- call(w.clients[1].client) })
	} else {
		other <- false
	}
	accepted = call(w.through(s.Via))
	return <-other || accepted
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
