package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/replay/workflow"
)

// The workflows of the nodes. All of them return what their history must show, so that a result can
// be held against it.
const (
	chain    workflow.Name[order, outcome] = "chain"    // transactional and plain steps in turns
	sleeper  workflow.Name[order, outcome] = "sleeper"  // a step, a sleep, a step: parked most of the time
	receiver workflow.Name[order, outcome] = "receiver" // waits for signals, with a step behind each
	holder   workflow.Name[order, outcome] = "holder"   // one step that takes long
	bounded  workflow.Name[order, outcome] = "bounded"  // steps that hold a limit

	word workflow.Signal[string] = "word"
)

// boundedLimit is what the steps of bounded hold, and boundedMost how many may at once. The diaries
// are the witness of it: they know nothing of what the store has granted.
const (
	boundedLimit = "calls"
	boundedMost  = 3
)

// order is the input of a run.
type order struct {
	Key   string        `json:"key"`
	Steps int           `json:"steps"`
	Takes time.Duration `json:"takes"` // of a body
	Gap   time.Duration `json:"gap"`   // between two steps
}

// signal is what the i-th signal to the run says, and its key.
func (o *order) signal(i int) string { return fmt.Sprintf("%s#%d", o.Key, i) }

// outcome is the result of a run: what its steps have drawn and its signals have said, each in
// order. A step draws a random text, so two executions of it cannot be mistaken for each other.
type outcome struct {
	Drawn    []string `json:"drawn"`
	Received []string `json:"received,omitempty"`
}

// effectsSQL is the table that the transactional steps write to. Nothing in it is unique: an effect
// that happened twice must show.
const effectsSQL = `create table if not exists effects (key text not null, step int not null, value text not null)`

const effectSQL = `insert into effects (key, step, value) values ($1, $2, $3)`

// hand executes bodies and writes into its node's diary when they begin and end.
type hand struct{ diary *diary }

// draw is the body of every step.
func (h *hand) draw(ctx context.Context, o order, step int) (string, error) {
	exec := rand.Text()
	h.diary.write(entry{What: begun, Key: o.Key, Step: step, Exec: exec})
	timer := time.NewTimer(o.Takes)
	defer timer.Stop()
	select {
	case <-timer.C:
		h.diary.write(entry{What: ended, Key: o.Key, Step: step, Exec: exec})
		return exec, nil
	case <-ctx.Done():
		h.diary.write(entry{What: cancelled, Key: o.Key, Step: step, Exec: exec})
		return "", context.Cause(ctx)
	}
}

// step runs a plain step, which may hold limits, and adds what it has drawn.
func (h *hand) step(ctx workflow.Context, o order, out *outcome, limits ...workflow.StepLimit) error {
	n := len(out.Drawn)
	drawn, err := workflow.Step(ctx, "draw", func(ctx context.Context) (string, error) { return h.draw(ctx, o, n) },
		&workflow.StepOptions{Limits: limits})
	out.Drawn = append(out.Drawn, drawn)
	return err
}

// stepTx runs a step whose effect is in the transaction of its event.
func (h *hand) stepTx(ctx workflow.Context, o order, out *outcome) error {
	n := len(out.Drawn)
	drawn, err := workflow.StepTx(ctx, "effect", func(ctx context.Context, tx pgx.Tx) (string, error) {
		drawn, err := h.draw(ctx, o, n)
		if err == nil {
			_, err = tx.Exec(ctx, effectSQL, o.Key, n, drawn)
		}
		return drawn, err
	}, nil)
	out.Drawn = append(out.Drawn, drawn)
	return err
}

func (h *hand) chain(ctx workflow.Context, o order) (out outcome, err error) {
	for range o.Steps {
		if err := h.stepTx(ctx, o, &out); err != nil {
			return out, err
		}
		if err := h.step(ctx, o, &out); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (h *hand) sleeper(ctx workflow.Context, o order) (out outcome, err error) {
	for range o.Steps {
		if err := h.step(ctx, o, &out); err != nil {
			return out, err
		}
		if err := workflow.Sleep(ctx, o.Gap); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (h *hand) receiver(ctx workflow.Context, o order) (out outcome, err error) {
	for range o.Steps {
		said, err := word.Receive(ctx)
		if err != nil {
			return out, err
		}
		out.Received = append(out.Received, said)
		if err := h.step(ctx, o, &out); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (h *hand) holder(ctx workflow.Context, o order) (out outcome, err error) {
	return out, h.step(ctx, o, &out)
}

func (h *hand) bounded(ctx workflow.Context, o order) (out outcome, err error) {
	for range o.Steps {
		if err := h.step(ctx, o, &out, workflow.StepLimit{Name: boundedLimit}); err != nil {
			return out, err
		}
	}
	return out, nil
}
