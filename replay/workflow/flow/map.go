package flow

import (
	"context"
	"strconv"

	"github.com/reprise-run/reprise/replay/workflow"
)

// windowDefault is how many steps of a map run at once: enough to keep a node busy, and few beside
// those of other runs.
const windowDefault = 100

// Map declares a step for each item of a list. fn is given the item and nothing else ([Item] tells
// its index), and the results are a list in the order of the items. The steps have the node's name.
// o may be nil; its Chunk and Window say how the list is cut.
//
// A list without items completes the node at once, with a list without results; so does a source
// whose node was skipped. A list that is nil is null in JSON, not an empty list, and fails the run
// with a *[TypeError]: a step that has found nothing returns []A{}.
//
// Each step is an event, and a history has a limit (runtime.NodeOptions.HistoryMax, 50,000 events
// by default): a longer list needs chunks.
//
// The first item that fails for good fails the node, and the other steps are cancelled.
func Map[In, A, T any](
	f *Flow[In], name string, from Source[[]A], fn func(context.Context, A) (T, error), o *Options,
) *Node[[]T] {
	n := declare[[]T](f.graph, name, KindMap, o, edgesOf(from, false)...)
	if n.o.Chunk == 0 {
		n.o.Chunk = 1
	}
	if n.o.Window == 0 {
		n.o.Window = windowDefault
	}
	if fn == nil {
		n.note("its function is nil")
		return n
	}
	items := func(v *values) ([]A, error) {
		list, ok, err := valueOf(from, v)
		switch {
		case err != nil:
			return nil, err
		case ok && list == nil:
			return nil, mistyped(producer(edgesOf(from, false)), "a list", []byte("null"), nil)
		}
		return list, nil
	}
	n.instant = func(v *values) (any, bool, error) {
		list, err := items(v)
		return []T{}, len(list) == 0, err
	}
	n.exec = func(ctx workflow.Context, v *values) (any, error) {
		list, err := items(v)
		if err != nil {
			return nil, err
		}
		m := mapping[A, T]{n: n.node, items: list, fn: fn}
		return m.do(ctx)
	}
	return n
}

// mapping is a map under way.
type mapping[A, T any] struct {
	n     *node
	items []A
	fn    func(context.Context, A) (T, error)
}

// do works on the chunks. Beside an error it returns the results of those that have completed, for
// the node's compensation.
func (m *mapping[A, T]) do(ctx workflow.Context) (any, error) {
	chunk := m.n.o.Chunk
	firsts := make([]int, 0, (len(m.items)+chunk-1)/chunk)
	for first := 0; first < len(m.items); first += chunk {
		firsts = append(firsts, first)
	}
	parts := make([][]T, len(firsts))
	work := func(ctx workflow.Context, first int) (struct{}, error) {
		last := min(first+chunk, len(m.items))
		part, err := workflow.Step(ctx, m.n.name, func(ctx context.Context) ([]T, error) { return m.part(ctx, first, last) }, m.n.o.Step)
		if err == nil {
			parts[first/chunk] = part
		}
		return struct{}{}, err
	}
	_, err := workflow.Map(ctx, firsts, work, &workflow.MapOptions{Limit: m.n.o.Window})
	results := make([]T, 0, len(m.items))
	for _, p := range parts {
		results = append(results, p...)
	}
	if err != nil && len(results) == 0 {
		return nil, err
	}
	return results, err
}

// progress is what an attempt of a chunk leaves for the next one: the results of its first items.
type progress[T any] struct {
	Done []T `json:"done"`
}

// part is the body of a chunk's step. A chunk of one item leaves the heartbeat to fn. An attempt
// that fails says how far it came, so the next one repeats no item; if its node dies it cannot.
func (m *mapping[A, T]) part(ctx context.Context, first, last int) ([]T, error) {
	results := make([]T, 0, last-first)
	if last-first > 1 {
		if p, ok := workflow.LastHeartbeat[progress[T]](ctx); ok && len(p.Done) < last-first {
			results = append(results, p.Done...)
		}
	}
	for i := first + len(results); i < last; i++ {
		result, err := m.fn(context.WithValue(ctx, itemKey{}, i), m.items[i])
		if err != nil {
			if last-first > 1 {
				// What is too large for a heartbeat is not kept: the attempt repeats the chunk
				// then.
				_ = workflow.Heartbeat(ctx, progress[T]{results})
			}
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}

type itemKey struct{}

// Item is the index of the item that the function of a map is called for. ok is false elsewhere.
func Item(ctx context.Context) (index int, ok bool) {
	index, ok = ctx.Value(itemKey{}).(int)
	return index, ok
}

// IdempotencyKey is workflow.IdempotencyKey for the function of a node: the same for every attempt,
// on every node, and another for each item of a map, also where items share a step.
func IdempotencyKey(ctx context.Context) string {
	key := workflow.IdempotencyKey(ctx)
	if i, ok := Item(ctx); ok && key != "" {
		key += "/" + strconv.Itoa(i)
	}
	return key
}
