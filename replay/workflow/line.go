package workflow

import (
	"fmt"

	"github.com/reprise-run/reprise/internal/list"
	"github.com/reprise-run/reprise/replay"
)

// home is the machine of a thing that strands share. The thing learns it when it is first used with a Context.
type home struct{ m *replay.Machine }

// enter is called by every verb of the thing that has a Context. It counts as a look, so that loops are stopped.
func (h *home) enter(ctx Context) (*replay.Machine, error) {
	m, err := ctx.inside()
	if err != nil {
		return nil, err
	}
	m.Poll()
	return m, h.adopt(m)
}

// adopt refuses a second machine: what code shares must be made by the run that uses it.
func (h *home) adopt(m *replay.Machine) error {
	if h.m == nil {
		h.m = m
	}
	if h.m != m {
		return fmt.Errorf("it belongs to another run: %w", ErrOutside)
	}
	return nil
}

// check is for verbs without a Context. Before the first use there is nobody to ask, and nothing to spoil.
func (h *home) check() {
	if h.m != nil {
		mustBeInside(h.m)
	}
}

// wait is a strand that waits to be served by another one. Who serves it hands over at once what it waits for, so
// nothing can get lost in between: neither if the strand takes another way at the same moment, nor if its scope ends.
type wait struct{ served int } // 1 plus the place that served it; 0 if none has

// line is where strands wait for their turn, first come, first served. A Select stands in several.
type line[T any] struct{ places list.List[place[T]] }

// place is a strand's place in a line, with what it brings or gets.
type place[T any] struct {
	value   T
	wait    *wait
	index   int // the Select's case
	gate    replay.Gate
	refused bool     // the channel was closed
	in      *line[T] // nil once it left
	node    list.Node[place[T]]
}

func (l *line[T]) join(p *place[T], what string) {
	p.gate.What, p.gate.Internal = what, true
	p.in = l
	l.places.PushBack(&p.node, p)
}

// head returns the first place that is not served, or nil. Those before it leave: their Select was served elsewhere.
func (l *line[T]) head() *place[T] {
	p := l.places.First()
	for p != nil && p.wait.served != 0 {
		p.leave()
		p = l.places.First()
	}
	return p
}

// serve lets the strand go on and takes the place out of the line.
func (p *place[T]) serve(m *replay.Machine) {
	p.wait.served = p.index + 1
	p.leave()
	m.Open(&p.gate)
}

func (p *place[T]) leave() {
	if p.in != nil {
		p.in.places.Remove(&p.node)
		p.in = nil
	}
}

// await waits in the line until p is served, or returns the scope's error if that is cancelled before.
func (l *line[T]) await(ctx Context, p *place[T], what string) error {
	p.wait = &wait{}
	l.join(p, what)
	err := ctx.scope.Await(func() bool { return p.wait.served != 0 }, &p.gate)
	p.leave()
	return err
}

// named is a thing with its name, in the form of Waiting.
func named(kind, name string) string {
	if name == "" {
		return kind
	}
	return fmt.Sprintf("%s %q", kind, name)
}
