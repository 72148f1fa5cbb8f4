package flow

import "encoding/json"

// Source is a value that a node is given: the flow's input, a node's result, or what is made of
// those. Who takes a node's result comes after it, so the sources of a flow are its edges. What
// functions of this package call with values runs in workflow code: it must be quick, do the same
// each time, and change nothing. What a node is given is shared with others that take it: it must
// not be changed.
type Source[T any] interface {
	// read returns the value, if it is there. Who is not a source himself calls valueOf.
	read(v *values) (value T, ok bool, err error)
	// edges adds what the source takes. Who is not a source himself calls edgesOf.
	edges(to *edges)
}

// edges are what a source takes, each edge once, in the order in which it takes them.
//
// A source may be taken more than once by what is made of it, and that again, so the ways to a node
// may be two to the power of the levels. Sources that others are made of are pointers, which
// identify them: each is gone through once, here and in valueOf.
type edges struct {
	list []edge
	have map[edge]bool
	seen map[any]bool // sources that are made of others
}

func (e *edges) add(one edge) {
	if !e.have[one] {
		e.have[one] = true
		e.list = append(e.list, one)
	}
}

// first tells whether the source has not been gone through yet.
func (e *edges) first(source any) bool {
	if e.seen[source] {
		return false
	}
	e.seen[source] = true
	return true
}

// take adds what a source takes that may be nil: then there is an edge to nothing, which Check
// names.
func take[T any](e *edges, s Source[T]) {
	if s == nil {
		e.add(edge{})
		return
	}
	s.edges(e)
}

// edgesOf are the edges of a source that may be nil, with one to nothing if it is, or if the
// function beside it is.
func edgesOf[T any](s Source[T], noFunction bool) []edge {
	e := edges{have: map[edge]bool{}, seen: map[any]bool{}}
	take(&e, s)
	if noFunction {
		e.add(edge{})
	}
	return e.list
}

// valueOf reads a source. What is made of others is made once, however often it is taken: the
// functions do the same each time. Another call makes it anew, since more nodes may have ended.
func valueOf[T any](s Source[T], v *values) (T, bool, error) {
	one := *v
	one.made = map[any]any{}
	return s.read(&one)
}

// made is what a source has come to.
type made[T any] struct {
	value T
	ok    bool
	err   error
}

// once makes the value of a source that is made of others, if it is not made yet.
func once[T any](v *values, source any, do func() (T, bool, error)) (T, bool, error) {
	if m, done := v.made[source].(made[T]); done {
		return m.value, m.ok, m.err
	}
	value, ok, err := do()
	v.made[source] = made[T]{value, ok, err}
	return value, ok, err
}

// input is the flow's input.
type input[In any] struct{}

func (input[In]) read(v *values) (In, bool, error) {
	in, _ := v.input.(In) // a nil interface stays one
	return in, true, nil
}

func (input[In]) edges(*edges) {}

func (n *Node[T]) read(v *values) (T, bool, error) {
	result, ok := v.result(n.node)
	t, _ := result.(T)
	return t, ok, nil
}

func (n *Node[T]) edges(to *edges) { to.add(edge{n.untyped(), true}) }

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

func (m maybe[T]) edges(to *edges) { to.add(edge{node: m.of.untyped()}) }

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
func Apply[A, B any](of Source[A], fn func(A) B) Source[B] { return &applied[A, B]{of, fn} }

type applied[A, B any] struct {
	of Source[A]
	fn func(A) B
}

func (a *applied[A, B]) read(v *values) (B, bool, error) {
	return once(v, a, func() (b B, ok bool, err error) {
		value, ok, err := a.of.read(v)
		if err != nil || !ok {
			return b, false, err
		}
		return a.fn(value), true, nil
	})
}

func (a *applied[A, B]) edges(to *edges) {
	if !to.first(a) {
		return
	}
	take(to, a.of)
	if a.fn == nil {
		to.add(edge{})
	}
}

// Join is what fn makes of two values.
func Join[A, B, C any](a Source[A], b Source[B], fn func(A, B) C) Source[C] {
	return &joined[A, B, C]{a, b, fn}
}

type joined[A, B, C any] struct {
	a  Source[A]
	b  Source[B]
	fn func(A, B) C
}

func (j *joined[A, B, C]) read(v *values) (C, bool, error) {
	return once(v, j, func() (c C, ok bool, err error) {
		a, ok, err := j.a.read(v)
		if err != nil || !ok {
			return c, false, err
		}
		b, ok, err := j.b.read(v)
		if err != nil || !ok {
			return c, false, err
		}
		return j.fn(a, b), true, nil
	})
}

func (j *joined[A, B, C]) edges(to *edges) {
	if !to.first(j) {
		return
	}
	take(to, j.a)
	take(to, j.b)
	if j.fn == nil {
		to.add(edge{})
	}
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

func (a all[T]) edges(to *edges) {
	for _, n := range a.nodes {
		n.edges(to)
	}
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

func (g gathered) edges(to *edges) {
	for _, n := range g {
		to.add(edge{node: untypedOf(n)})
	}
}

// As is a value of another type, by its JSON: for outputs whose type the program does not know
// better than any or json.RawMessage. A value that does not decode into a T fails the run with a
// *[TypeError], which keeps it.
func As[T, A any](of Source[A]) Source[T] { return &as[T, A]{of} }

type as[T, A any] struct{ of Source[A] }

func (a *as[T, A]) read(v *values) (T, bool, error) {
	return once(v, a, func() (t T, ok bool, err error) {
		value, ok, err := a.of.read(v)
		if err != nil || !ok {
			return t, false, err
		}
		data, err := json.Marshal(value)
		if err == nil {
			err = json.Unmarshal(data, &t)
		}
		if err != nil {
			return t, false, mistyped(producer(edgesOf(a.of, false)), wanted[T](), data, err)
		}
		return t, true, nil
	})
}

func (a *as[T, A]) edges(to *edges) {
	if to.first(a) {
		take(to, a.of)
	}
}

// producer names what a value comes from.
func producer(list []edge) string {
	if len(list) == 0 {
		return "the input"
	}
	return "node " + list[0].node.name
}
