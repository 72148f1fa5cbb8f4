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

// answered is an update as its caller sees it.
type answered struct {
	call
	how    answerKind
	answer string
}

// answerKind is how a call ended; it must have ended in one of these ways.
type answerKind string

const (
	answerNone     answerKind = ""
	answerDone     answerKind = "done"
	answerFailed   answerKind = "failed"
	answerRejected answerKind = "rejected"
	answerAborted  answerKind = "aborted" // by a continue-as-new
	answerClosed   answerKind = "closed"
)

// call sends an update and waits for its answer. What is tried again has the same key, so that it
// happens once.
func (w *world) call(r *running, c call, client *runtime.Client) {
	a := w.noteCall(r, c)
	w.await(r, a, client, func(ctx context.Context, client *runtime.Client) (string, error) {
		return runtime.CallUpdate(ctx, client, w.idOf(r), c.update(), c, &runtime.UpdateOptions{Key: c.ID})
	})
}

func (w *world) noteCall(r *running, c call) *answered {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := &answered{call: c}
	r.calls = append(r.calls, a)
	return a
}

func (c *call) update() workflow.Update[call, string] {
	if c.Do == callNobody {
		return nobody
	}
	return callIt
}

// await repeats a call until there is a definite answer.
func (w *world) await(r *running, a *answered, client *runtime.Client, once func(context.Context, *runtime.Client) (string, error)) {
	for w.ctx.Err() == nil {
		epoch := w.now()
		ctx, cancel := context.WithTimeout(w.ctx, callMax)
		answer, err := once(ctx, client)
		late := ctx.Err() != nil
		cancel()
		client = w.clients[0].client // a node may be gone for good
		how := answerDone
		update, refused := errors.AsType[*runtime.UpdateError](err)
		switch {
		case err == nil:
		case refused && update.Rejected:
			how = answerRejected
		case errors.Is(err, runtime.ErrAborted):
			how = answerAborted
		case refused:
			how = answerFailed
		case errors.Is(err, journal.ErrClosed):
			how = answerClosed
		case late || w.now() != epoch:
			continue
		case errors.Is(err, runtime.ErrBlocked) && w.plan.hasOlder(): // for a node that cannot read it
			time.Sleep(callMax / 10)
			continue
		case errors.Is(err, journal.ErrNotFound) && epoch > 0: // it is started again
			time.Sleep(callMax / 10)
			continue
		default:
			w.breaks("client", "update %s of run %s: %v", a.ID, r.name(), err)
			return
		}
		if w.answer(r, a, epoch, how, answer) {
			return
		}
	}
}

// answer notes the answer of a call, and checks that it is in the journal. It is false if the
// database has gone back since an epoch.
func (w *world) answer(r *running, a *answered, epoch int, how answerKind, answer string) bool {
	w.tape.mu.Lock() // nothing goes back now
	defer w.tape.mu.Unlock()
	again := func() { w.call(r, a.call, w.clients[0].client) }
	if !w.note(r, epoch, done{payload: a.ID, call: a, again: again}, true) {
		return false
	}
	if how == answerDone || how == answerFailed || how == answerAborted {
		w.durable(r, a, answer)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	a.how, a.answer = how, answer
	return true
}

// durable checks that an answer which a caller has is in the journal, unless somebody has gone back
// meanwhile: the update may have come again.
func (w *world) durable(r *running, a *answered, answer string) {
	kept := w.kept(r.id)
	if len(w.tape.backsOf(r.id)) > 0 {
		return
	}
	for i := range kept.Messages {
		m := &kept.Messages[i]
		if callOf(m) != a.ID {
			continue
		}
		if stored, ok := kept.Answers[m.Number]; ok && (answer == "" || decodeSignal(stored.Payload) == answer) {
			return
		}
	}
	w.breaks("updates", "the caller of update %s of run %s has the answer %q before it is stored", a.ID, r.name(), answer)
}

// callOf returns the id of an update, none of another message.
func callOf(m *journal.Message) string {
	var c call
	if m.Kind == journal.MessageUpdate {
		_ = (journal.JSON{}).Decode(m.Payload, &c)
	}
	return c.ID
}

// callWithStart starts a run with an update.
func (w *world) callWithStart(ctx context.Context, r *running, client *runtime.Client, in job, o *runtime.StartOptions) (*runtime.Run[outcome], error) {
	c := call{fmt.Sprintf("%d.0", r.number), 1000, callPlan{callStep, 50 * time.Millisecond}}
	run, handle, err := runtime.UpdateWithStart(ctx, client, program, in, callIt, c, o, &runtime.UpdateOptions{Key: c.ID})
	if err != nil {
		return nil, err
	}
	a := w.noteCall(r, c)
	first := true
	w.drivers.Go(func() {
		w.await(r, a, client, func(ctx context.Context, client *runtime.Client) (string, error) {
			if first {
				first = false
				w.idOf(r) // who has started it may note the id behind the answer, which is looked for by it
				return handle.Result(ctx)
			}
			return runtime.CallUpdate(ctx, client, w.idOf(r), callIt, c, &runtime.UpdateOptions{Key: c.ID})
		})
	})
	return run, nil
}
