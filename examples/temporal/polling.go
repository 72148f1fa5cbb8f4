package temporal

import (
	"context"
	"errors"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// Three ways to ask a service until it is ready: often, in a loop inside one step; seldom, by the
// retries of a step; and with questions that change, by a child that continues as new.
const (
	PollOften  workflow.Name[string, string] = "poll.often"
	PollSeldom workflow.Name[string, string] = "poll.seldom"
	PollPaged  workflow.Name[string, string] = "poll.paged"
	pollPages  workflow.Name[page, string]   = "poll.pages"
)

var errNotReady = errors.New("not ready")

// service answers, or returns errNotReady.
type service func(ctx context.Context, question string) (string, error)

func (s service) often(ctx workflow.Context, question string) (string, error) {
	return workflow.Step(ctx, "poll", func(ctx context.Context) (string, error) {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			answer, err := s(ctx, question)
			if !errors.Is(err, errNotReady) {
				return answer, err
			}
			if err := workflow.Heartbeat(ctx, nil); err != nil {
				return "", err
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
	}, &workflow.StepOptions{HeartbeatTimeout: 10 * time.Second})
}

func (s service) seldom(ctx workflow.Context, question string) (string, error) {
	return workflow.Step(ctx, "poll", func(ctx context.Context) (string, error) { return s(ctx, question) },
		&workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Minute, Factor: 1.5, Max: time.Hour, Jitter: -1}})
}

// page is the state of the child.
type page struct {
	Question string
	Asked    int
}

const pollsPerGeneration = 10

func (s service) paged(ctx workflow.Context, question string) (string, error) {
	return workflow.Call(ctx, pollPages, page{Question: question}, nil)
}

func (s service) pages(ctx workflow.Context, p page) (string, error) {
	for range pollsPerGeneration {
		asked := p.Asked
		answer, err := workflow.Step(ctx, "poll", func(ctx context.Context) (string, error) {
			answer, err := s(ctx, p.Question)
			if errors.Is(err, errNotReady) {
				return "", nil
			}
			return answer, err
		}, nil)
		if err != nil || answer != "" {
			return answer, err
		}
		p.Asked++
		if err := workflow.Sleep(ctx, time.Duration(1+asked)*time.Minute); err != nil {
			return "", err
		}
	}
	return "", workflow.ContinueAsNew(ctx, pollPages, p, nil)
}
