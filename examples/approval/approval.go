package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// Durable names, shared by whoever asks, who decides and who runs the code.
const (
	Approve workflow.Name[Request, string] = "approval"
	Decided workflow.Signal[Decision]      = "approval.decided"
)

// Request is something that somebody must approve.
type Request struct {
	What     string        `json:"what"`
	Remind   time.Duration `json:"remind"`   // between two reminders
	Patience time.Duration `json:"patience"` // until it counts as refused
}

// Decision is the answer to a Request.
type Decision struct {
	By string `json:"by"`
	OK bool   `json:"ok"`
}

// office is what the workflow needs of the world. mail may be called again with the key of a mail
// that was sent.
type office struct {
	mail func(ctx context.Context, key, text string) error
}

// approve asks, reminds until there is a decision, and gives up when the time is over.
func (o *office) approve(ctx workflow.Context, r Request) (string, error) {
	if err := o.send(ctx, "ask", "please decide: "+r.What); err != nil {
		return "", err
	}
	inTime, done := workflow.WithTimeout(ctx, r.Patience)
	defer done()
	for {
		d, ok, err := Decided.ReceiveTimeout(inTime, r.Remind)
		switch {
		case errors.Is(err, workflow.ErrTimeout):
			return "refused, because nobody decided", o.send(ctx, "give up", "too late: "+r.What)
		case errors.Is(err, workflow.ErrCancelled):
			return "", errors.Join(err, o.send(workflow.Shield(ctx), "withdraw", "never mind: "+r.What))
		case err != nil:
			return "", err
		case !ok:
			err = o.send(ctx, "remind", "still waiting: "+r.What)
		case d.OK:
			return "approved by " + d.By, nil
		default:
			return "refused by " + d.By, nil
		}
		if err != nil {
			return "", err
		}
	}
}

func (o *office) send(ctx workflow.Context, step, text string) error {
	_, err := workflow.Step(ctx, step, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, o.mail(ctx, workflow.IdempotencyKey(ctx), text)
	}, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", step, err)
	}
	return nil
}
