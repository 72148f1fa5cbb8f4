package sim

import (
	"errors"

	"github.com/reprise-run/reprise/replay/workflow"
)

// What every program answers, and what none does.
const (
	callIt workflow.Update[call, string] = "call"
	nobody workflow.Update[call, string] = "nobody"
	look   workflow.Query[string, sight] = "look"
)

// call is the argument of an update.
type call struct {
	ID     string `json:"id"`
	Number int    `json:"number"` // no instruction's
	callPlan
}

// sight is what a query sees of a run.
type sight struct {
	Came map[string]int `json:"came"` // signals by name, received or not
	Took []string       `json:"took"`
	Done bool           `json:"done"` // the program, or its generation, has ended
}

// got notes a signal.
func (p *interpreter) got(in *instr, v string) {
	p.note(in, wentSignal, v)
	received := map[string]int{in.Name: 1}
	for name, n := range p.out.Received {
		received[name] += n
	}
	p.out.Received = received
}

// handle sets the handlers.
func (p *interpreter) handle(ctx workflow.Context) {
	callIt.Handle(ctx, p.call, &workflow.UpdateOptions[call]{Validate: func(c call) error {
		if c.Do == callReject {
			return errors.New("by plan")
		}
		return nil
	}})
	look.Handle(ctx, func(string) (sight, error) {
		s := sight{Came: map[string]int{}, Took: p.out.Took, Done: p.done}
		for _, name := range signalNames {
			s.Came[name] = p.out.Received[name] + workflow.Signal[string](name).Pending(ctx)
		}
		return s, nil
	})
}

// call takes effect in the same moment in which it answers.
func (p *interpreter) call(ctx workflow.Context, c call) (string, error) {
	answer := c.ID
	switch c.Do {
	case callSleep, callFail:
		if err := workflow.Sleep(ctx, c.For); err != nil {
			return "", err
		}
		if c.Do == callFail {
			return "", errPlanned
		}
	case callStep:
		in := &instr{ID: c.Number, For: c.For}
		out, err := workflow.Step(ctx, in.step(), p.body(in, false), in.options())
		if err != nil {
			return "", err
		}
		answer += " " + out
	}
	p.out.Took = append(p.out.Took, c.ID)
	return answer, nil
}
