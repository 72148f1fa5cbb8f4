package workflow

import (
	"fmt"

	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/replay"
)

// binding is the run that a thing belongs to which strands share, such as a channel. The thing is
// made without a Context, often as a zero value, so it learns its run when it is first used with
// one.
type binding struct{ env *replay.Env } // nil before the first use

// bind is called by every verb of the thing that has a Context. It counts as a look, so that loops
// are stopped.
func (b *binding) use(ctx Context) (*replay.Env, error) {
	e, err := ctx.inside()
	if err != nil {
		return nil, err
	}
	e.Poll()
	return e, b.bind(e)
}

// bind refuses a second run: strands of two runs would wake each other outside of their histories.
func (b *binding) bind(e *replay.Env) error {
	if b.env == nil {
		b.env = e
	}
	if b.env != e {
		return fmt.Errorf("it belongs to another run: %w", ErrOutside)
	}
	return nil
}

// check is for verbs without a Context. Before the first use there is no run to ask, but code that
// may only read is refused all the same: its run may use the thing later.
func (b *binding) check() { mayChange(b.env) }

func mayChange(e *replay.Env) {
	if e != nil {
		mustBeInside(e)
	} else if err := replay.Unbound(); err != nil {
		callsite.Refuse(err)
	}
}
