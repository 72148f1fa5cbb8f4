package sim

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

// family executes the instructions that concern other runs.
func (p *interpreter) family(ctx workflow.Context, in *instr) error {
	switch in.Do {
	case doCall:
		out, err := workflow.Call(ctx, program, p.child(in), in.kid())
		return p.grown(in, out, err)
	case doSpawn:
		p.children[in.ID] = workflow.CallAsync(ctx, program, p.child(in), in.kid())
		return nil
	case doStop:
		if c, ok := p.children[in.Ref]; ok {
			c.Cancel()
		}
		return nil
	}
	to, ok := p.target(ctx, in)
	if !ok {
		return nil
	}
	if in.Do == doPost {
		return p.post(ctx, in, to)
	}
	var err error
	if in.Do == doKill {
		err = workflow.CancelRun(ctx, to, "by program")
	} else {
		err = workflow.Signal[string](in.Name).Send(ctx, to, p.payload(in))
	}
	if _, refused := errors.AsType[*workflow.SignalError](err); refused {
		p.note(in, wentRefused, "")
		return nil
	}
	return p.ended(in, "", err)
}

// post sends two signals. Got tells of the first one.
func (p *interpreter) post(ctx workflow.Context, in *instr, to workflow.RunID) error {
	name := workflow.Signal[string](in.Name)
	first, second := name.SendAsync(ctx, to, p.payload(in)), name.SendAsync(ctx, to, p.payload(in)+again)
	_, failed := first.Get(ctx)
	_, err := second.Get(ctx)
	_, refused := errors.AsType[*workflow.SignalError](failed)
	switch _, closed := errors.AsType[*workflow.SignalError](err); {
	case refused && err == nil:
		p.wrong(in, "the first signal came to nobody, and the second one came")
	case refused && closed:
		p.note(in, wentRefused, "")
	case closed && failed == nil:
		p.note(in, wentRefused, again)
	default:
		return p.ended(in, "", errors.Join(failed, err))
	}
	return nil
}

// again marks the second signal of an instruction.
const again = " again"

func (p *interpreter) child(in *instr) job { return job{Root: p.Root, Of: in.ID, Program: in.Body} }

func (in *instr) kid() *workflow.ChildOptions {
	return &workflow.ChildOptions{
		Key: in.Kid.Key, Reuse: workflow.Reuse(in.Kid.Reuse), OnParentClose: workflow.ClosePolicy(in.Kid.Close), Delay: in.Kid.Delay,
		OnCancel: workflow.CancelMode(in.Mode),
	}
}

// grown notes the end of a child.
func (p *interpreter) grown(in *instr, out outcome, err error) error {
	if c, ok := errors.AsType[*workflow.ChildError](err); ok && c.Failure.Type == journal.FailureKeyExists { // not a grandchild's
		p.note(in, wentTaken, "")
		return err
	}
	return p.ended(in, out.digest(), err)
}

// digest stands for an outcome in the trace of a parent.
func (o *outcome) digest() string {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("%x", hash(0, string(text)))
}

// payload is what the instruction sends. Nobody else sends the same.
func (p *interpreter) payload(in *instr) string { return sentBy(p.Root, in.ID) }

func sentBy(root, id int) string { return fmt.Sprintf("%d!%d", root, id) }

// target returns whom a message goes to, false for nobody.
func (p *interpreter) target(ctx workflow.Context, in *instr) (id workflow.RunID, ok bool) {
	switch in.To {
	case toChild:
		c, ok := p.children[in.Ref]
		return c.ID(), ok
	case toParent:
		parent := ctx.Info().Parent
		if parent == nil {
			return id, false
		}
		return parent.Run, true
	}
	return ctx.Info().Run, true
}
