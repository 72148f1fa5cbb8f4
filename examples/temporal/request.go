package temporal

import (
	"context"

	"github.com/reprise-run/reprise/replay/workflow"
)

// A Server is a run that answers other runs. Requests and answers are signals.
const (
	Server workflow.Name[int, int]         = "server"
	Asks   workflow.Signal[Question]       = "server.ask"
	Answer workflow.Signal[Reply]          = "server.answer"
	Asker  workflow.Name[Errand, []string] = "asker"
)

// Question is what a run wants to know.
type Question struct {
	From workflow.RunID
	N    int
	Text string
}

// Reply is the answer to question N.
type Reply struct {
	N    int
	Text string
}

// Errand is what an asker does.
type Errand struct {
	Server    workflow.RunID
	Questions []string
}

// oracle knows answers.
type oracle func(ctx context.Context, question string) (string, error)

func (o oracle) server(ctx workflow.Context, answered int) (int, error) {
	var thinking workflow.WaitGroup
	for !ctx.ShouldContinue() {
		q, err := Asks.Receive(ctx)
		if err != nil {
			return answered, err
		}
		answered++
		thinking.Go(ctx, func(ctx workflow.Context) { // slow questions do not hold up others
			text, err := workflow.Step(ctx, "think", func(ctx context.Context) (string, error) { return o(ctx, q.Text) }, nil)
			if err != nil {
				text = "no answer: " + err.Error()
			}
			if err := Answer.Send(ctx, q.From, Reply{q.N, text}); err != nil {
				workflow.Log(ctx).Warn("nobody hears the answer", "error", err)
			}
		})
	}
	if err := thinking.Wait(ctx); err != nil { // what a generation has begun ends with it
		return answered, err
	}
	return 0, workflow.ContinueAsNew(ctx, Server, answered, nil)
}

func asker(ctx workflow.Context, e Errand) ([]string, error) {
	for n, text := range e.Questions {
		if err := Asks.Send(ctx, e.Server, Question{ctx.Info().Run, n, text}); err != nil {
			return nil, err
		}
	}
	answers := make([]string, len(e.Questions))
	for range e.Questions {
		r, err := Answer.Receive(ctx)
		if err != nil {
			return nil, err
		}
		answers[r.N] = r.Text
	}
	return answers, nil
}
