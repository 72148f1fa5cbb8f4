package flow

import "encoding/json"

// Source is a value that a node is given: the flow's input, a node's result, or what is made of
// those. Who takes a node's result comes after it, so the sources of a flow are its edges. What
// functions of this package call with values runs in workflow code: it must be quick, do the same
// each time, and change nothing. What a node is given is shared with others that take it: it must
// not be changed.
type Source[T any] interface {
	// read returns the value, if it is there.
	read(v *values) (value T, ok bool, err error)
	edges() []edge
}

// input is the flow's input.
type input[In any] struct{}

func (input[In]) read(v *values) (In, bool, error) {
	in, _ := v.input.(In) // a nil interface stays one
	return in, true, nil
}

func (input[In]) edges() []edge { return nil }

func (n *Node[T]) read(v *values) (T, bool, error) {
	result, ok := v.result(n.node)
	t, _ := result.(T)
	return t, ok, nil
}

func (n *Node[T]) edges() []edge { return []edge{{n.untyped(), true}} }

// Optional is the result of a node that may have been skipped: OK is false then.
type Optional[T any] struct {
	Value T
	OK    bool
}

// Maybe is the result of a node that may be skipped.
func Maybe[T any](n *Node[T]) Source[Optional[T]] { return maybe[T]{n} }

type maybe[T any] struct{ of *Node[T] }

func (m maybe[T]) read(v *values) (Optional[T], bool, error) {
	t, ok, err := m.of.read(v)
	return Optional[T]{t, ok}, true, err
}

func (m maybe[T]) edges() []edge { return []edge{{node: m.of.untyped()}} }

// Or is the result of a node, or other if the node was skipped.
func Or[T any](n *Node[T], other T) Source[T] {
	return Apply(Maybe(n), func(o Optional[T]) T {
		if o.OK {
			return o.Value
		}
		return other
	})
}

// Apply is what fn makes of a value.
func Apply[A, B any](of Source[A], fn func(A) B) Source[B] { return applied[A, B]{of, fn} }

type applied[A, B any] struct {
	of Source[A]
	fn func(A) B
}

func (a applied[A, B]) read(v *values) (b B, ok bool, err error) {
	value, ok, err := a.of.read(v)
	if err != nil || !ok {
		return b, false, err
	}
	return a.fn(value), true, nil
}

func (a applied[A, B]) edges() []edge { return edgesOf(a.of, a.fn == nil) }

// edgesOf are the edges of a source that may be nil, with one to nothing if the function beside it
// is: Check names it.
func edgesOf[T any](s Source[T], noFunction bool) []edge {
	if s == nil {
		return []edge{{}}
	}
	list := s.edges()
	if noFunction {
		list = append(list, edge{})
	}
	return list
}

// Join is what fn makes of two values.
func Join[A, B, C any](a Source[A], b Source[B], fn func(A, B) C) Source[C] {
	return joined[A, B, C]{a, b, fn}
}

type joined[A, B, C any] struct {
	a  Source[A]
	b  Source[B]
	fn func(A, B) C
}

func (j joined[A, B, C]) read(v *values) (c C, ok bool, err error) {
	a, ok, err := j.a.read(v)
	if err != nil || !ok {
		return c, false, err
	}
	b, ok, err := j.b.read(v)
	if err != nil || !ok {
		return c, false, err
	}
	return j.fn(a, b), true, nil
}

func (j joined[A, B, C]) edges() []edge {
	return append(edgesOf(j.a, false), edgesOf(j.b, j.fn == nil)...)
}

// All is the results of nodes of one type, in the order of the list.
func All[T any](nodes ...*Node[T]) Source[[]T] { return all[T]{nodes} }

type all[T any] struct{ nodes []*Node[T] }

func (a all[T]) read(v *values) ([]T, bool, error) {
	list := make([]T, 0, len(a.nodes))
	for _, n := range a.nodes {
		t, ok, err := n.read(v)
		if err != nil || !ok {
			return nil, false, err
		}
		list = append(list, t)
	}
	return list, true, nil
}

func (a all[T]) edges() (list []edge) {
	for _, n := range a.nodes {
		list = append(list, n.edges()...)
	}
	return list
}

// Gather is the results of nodes by their names, as JSON. A node that was skipped has no key, which
// is not the same as a null.
func Gather(nodes ...Any) Source[Results] { return gathered(nodes) }

type gathered []Any

func (g gathered) read(v *values) (Results, bool, error) {
	r := Results{}
	for _, n := range g {
		if err := r.keep(v, n.untyped()); err != nil {
			return nil, false, err
		}
	}
	return r, true, nil
}

func (g gathered) edges() (list []edge) {
	for _, n := range g {
		list = append(list, edge{node: untypedOf(n)})
	}
	return list
}

// As is a value of another type, by its JSON: for outputs whose type the program does not know
// better than any or json.RawMessage. A value that does not decode into a T fails the run with a
// *[TypeError], which keeps it.
func As[T, A any](of Source[A]) Source[T] { return as[T, A]{of} }

type as[T, A any] struct{ of Source[A] }

func (a as[T, A]) read(v *values) (t T, ok bool, err error) {
	value, ok, err := a.of.read(v)
	if err != nil || !ok {
		return t, false, err
	}
	data, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	if err != nil {
		return t, false, mistyped(producer(a.of.edges()), wanted[T](), data, err)
	}
	return t, true, nil
}

func (a as[T, A]) edges() []edge { return edgesOf(a.of, false) }

// producer names what a value comes from.
func producer(list []edge) string {
	if len(list) == 0 {
		return "the input"
	}
	return "node " + list[0].node.name
}
