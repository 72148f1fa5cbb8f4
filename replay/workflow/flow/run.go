package flow

import (
	"errors"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

// execution is one run of a flow.
//
// Its invariants, which make it a function of the events:
//
//   - A node begins when the last of its parents ends (or of its quorum), in that turn, in a strand
//     of its own. Of several that begin together the first by name is first.
//   - A node ends once. What it did not end with changes nothing: err is set once, and nothing
//     begins after it.
//   - Which node has ended, or was skipped and why, can be read from the history and the shape: an
//     end that no event tells is a record that is named after the node, see mark. [Shape.State] is
//     the reader.
type execution struct {
	*plan
	values
	ctx     workflow.Context // of the nodes; cancelled when the flow fails
	cancel  func()
	all     workflow.WaitGroup
	undo    *workflow.Undo
	waiting []int // parents that have not ended
	ended   []int // nodes whose dependents have not been told
	ready   []int // nodes that may begin
	marked  bool  // the shape's mark is in the history
	err     error // why the flow fails
}

func (p *plan) execute(ctx workflow.Context, in any) (Results, error) {
	return workflow.Saga(ctx, func(ctx workflow.Context, undo *workflow.Undo) (Results, error) {
		r := &execution{plan: p, undo: undo, waiting: make([]int, len(p.nodes))}
		r.values = values{input: in, states: make([]nodeState, len(p.nodes)), index: p.index}
		for i := range p.nodes {
			r.states[i].status = StatusWaiting
			if r.waiting[i] = p.awaits(i); r.waiting[i] == 0 {
				r.ready = append(r.ready, i)
			}
		}
		return r.do(ctx)
	})
}

func (r *execution) do(ctx workflow.Context) (Results, error) {
	r.ctx, r.cancel = workflow.WithCancel(ctx)
	r.settle()
	// In a cancelled scope, too, the strands end before the flow does: their outcomes are undone.
	if err := r.all.Wait(workflow.Shield(ctx)); err != nil {
		return nil, err
	}
	r.cancel()
	if r.err != nil {
		return nil, r.err
	}
	for i := range r.states {
		if r.states[i].status == StatusWaiting {
			return nil, ctx.Err() // the run was cancelled while no node was under way
		}
	}
	return r.output()
}

// output is the results of the leaves.
func (r *execution) output() (Results, error) {
	out := Results{}
	for i, n := range r.nodes {
		if len(r.dependents[i]) > 0 {
			continue
		}
		if err := out.keep(&r.values, n); err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, nil
}

// settle begins and skips nodes until every node has ended, is under way or waits for one that is.
// It is a loop, not a recursion: a chain of maps without items may be as long as a flow.
func (r *execution) settle() {
	for r.err == nil {
		switch {
		case len(r.ended) > 0:
			i := r.ended[0]
			r.ended = r.ended[1:]
			r.release(i)
		case len(r.ready) > 0 && !r.ctx.Cancelled():
			i := r.ready[0]
			r.ready = r.ready[1:]
			r.begin(i)
		default:
			return
		}
	}
}

// release tells the dependents of a node that it has ended.
func (r *execution) release(i int) {
	for _, d := range r.dependents[i] {
		r.waiting[d]--
		switch {
		case r.states[d].status != StatusWaiting: // skipped because of another parent, or begun by a quorum
		case r.states[i].cascade:
			r.states[d] = nodeState{status: StatusSkipped, cascade: true}
			r.ended = append(r.ended, d)
		case r.waiting[d] == 0:
			r.ready = append(r.ready, d)
		}
	}
}

// begin starts a node whose parents have ended, or ends it at once.
func (r *execution) begin(i int) {
	n := r.nodes[i]
	if r.states[i].status != StatusWaiting {
		return // a parent beyond its quorum has taken it along
	}
	why, err := r.decide(n)
	if err == nil && why != "" && n.o.Unmet == Fail {
		err = ErrUnmet
	}
	if err != nil {
		r.fail(n, err)
		return
	}
	if why != "" {
		r.skip(i, why, n.o.Unmet)
		return
	}
	if n.instant != nil {
		result, done, err := n.instant(&r.values)
		if err != nil {
			r.fail(n, err)
			return
		}
		if done {
			r.complete(i, result)
			return
		}
	}
	r.states[i].status = StatusRunning
	r.all.Go(r.ctx, func(ctx workflow.Context) {
		result, err := r.exec(ctx, n)
		r.finish(i, result, err)
		r.settle()
	})
}

// decide tells why a node does not run, "" if it does. What conditions say is kept in the history
// and holds, also if code changes what they say.
func (r *execution) decide(n *node) (Reason, error) {
	if n.o.Since != "" && !workflow.Changed(r.ctx, n.o.Since) || n.o.Until != "" && workflow.Changed(r.ctx, n.o.Until) {
		return ReasonChange, nil
	}
	if len(n.o.If) == 0 {
		return "", nil
	}
	met, err := n.met(&r.values)
	if err != nil {
		return "", err
	}
	if workflow.SideEffect(r.ctx, n.name+ifSuffix, func() bool { return met }) {
		return "", nil
	}
	return ReasonUnmet, nil
}

func (r *execution) exec(ctx workflow.Context, n *node) (any, error) {
	if n.o.Timeout > 0 {
		var stop func()
		ctx, stop = workflow.WithTimeout(ctx, n.o.Timeout)
		defer stop()
	}
	return n.exec(ctx, &r.values)
}

// finish ends a node that was under way.
func (r *execution) finish(i int, result any, err error) {
	n := r.nodes[i]
	r.mark()
	switch {
	case err == nil:
		r.complete(i, result)
		return
	case result != nil && n.kind == KindMap:
		r.pushUndo(n, result)
	}
	mistyped := new(TypeError)
	switch {
	case r.ctx.Cancelled():
		r.states[i].status = StatusCancelled
		if r.err == nil {
			r.err = r.ctx.Err() // the run is cancelled
		}
	case n.exhausted() == Fail, errors.As(err, &mistyped), errors.Is(err, journal.ErrInvalid):
		r.fail(n, err)
	default:
		r.skip(i, ReasonFailed, n.o.Exhausted)
	}
}

func (r *execution) complete(i int, result any) {
	n := r.nodes[i]
	r.states[i] = nodeState{status: StatusCompleted, result: result}
	if n.kind != KindStep {
		r.record(n, markDone)
	}
	r.pushUndo(n, result)
	r.ended = append(r.ended, i)
}

func (r *execution) pushUndo(n *node, result any) {
	if n.undo != nil {
		n.undo(r.undo, result)
	}
}

func (r *execution) skip(i int, why Reason, mode Mode) {
	r.states[i] = nodeState{status: StatusSkipped, cascade: mode == SkipDescendants}
	if why != ReasonChange { // the change tells; a run that passed it by has no record of it
		r.record(r.nodes[i], markSkipped+string(why))
	}
	r.ended = append(r.ended, i)
}

func (r *execution) fail(n *node, err error) {
	r.record(n, markFailed)
	if r.err == nil {
		r.err = nodeError(n.name, err)
	}
	r.cancel()
}

// record keeps the end of a node that no event tells. It stands with what the turn asks for and
// needs no row of its own.
func (r *execution) record(n *node, what string) {
	workflow.SideEffect(r.ctx, n.name+what, func() struct{} { return struct{}{} })
}

// mark keeps which shape the run began with. It is a change that is never asked about: replay
// passes over that of another shape, so a flow may be changed ahead of its runs. It comes with the
// first end of a node and not with the start, because a first turn that asks for steps alone needs
// no commit of its own.
func (r *execution) mark() {
	if !r.marked {
		r.marked = true
		workflow.Changed(r.ctx, r.change())
	}
}

// checkInput looks at the sources of the nodes that begin with the run.
func (p *plan) checkInput(in any) error {
	v := &values{input: in, index: p.index}
	for i, n := range p.nodes {
		if len(p.parents[i]) > 0 || n.instant == nil {
			continue
		}
		met, err := n.met(v)
		if err != nil {
			return nodeError(n.name, err)
		}
		if !met || n.o.Until != "" { // a run that begins is behind every change
			continue
		}
		if _, _, err := n.instant(v); err != nil {
			return nodeError(n.name, err)
		}
	}
	return nil
}
