package flow

import (
	"cmp"
	"slices"
)

// cycles returns, for each set of nodes that wait for each other, one way around: names of nodes,
// each of which comes before the next, and the last is the first again.
//
// The sets are the strongly connected components (Tarjan's algorithm, with a stack of its own: a
// flow may be a chain as long as flows may be). Within one the shortest way from its first node, by
// name, back to it is found breadth first.
func (g *graph) cycles() (list [][]string) {
	next := map[*node][]*node{} // the nodes that come after one
	for _, n := range g.nodes {
		for _, e := range n.parents() {
			if e.node != nil && e.node.graph == g && !slices.Contains(next[e.node], n) {
				next[e.node] = append(next[e.node], n)
			}
		}
	}
	for _, set := range components(g.nodes, next) {
		slices.SortFunc(set, func(a, b *node) int { return cmp.Compare(a.name, b.name) })
		if way := around(set, next); way != nil {
			list = append(list, way)
		}
	}
	slices.SortFunc(list, slices.Compare)
	return list
}

// around is the shortest way from the first node of a component back to it; nil if there is none,
// which is so for a node by itself.
func around(set []*node, next map[*node][]*node) []string {
	first := set[0]
	from := map[*node]*node{}
	for queue := []*node{first}; len(queue) > 0; queue = queue[1:] {
		for _, n := range next[queue[0]] {
			if !slices.Contains(set, n) {
				continue
			}
			if n == first {
				way := []string{first.name}
				for at := queue[0]; at != first; at = from[at] {
					way = append(way, at.name)
				}
				way = append(way, first.name)
				slices.Reverse(way)
				return way
			}
			if from[n] == nil {
				from[n] = queue[0]
				queue = append(queue, n)
			}
		}
	}
	return nil
}

// visit is a node on the way of components.
type visit struct {
	n    *node
	next int // of its dependents the one to be looked at next
}

// components returns the strongly connected components.
func components(nodes []*node, next map[*node][]*node) (sets [][]*node) {
	number, low, on := map[*node]int{}, map[*node]int{}, map[*node]bool{}
	var stack []*node
	enter := func(n *node) visit {
		number[n] = len(number) + 1
		low[n] = number[n]
		stack, on[n] = append(stack, n), true
		return visit{n: n}
	}
	for _, root := range nodes {
		if number[root] != 0 {
			continue
		}
		for way := []visit{enter(root)}; len(way) > 0; {
			v := &way[len(way)-1]
			if v.next < len(next[v.n]) {
				d := next[v.n][v.next]
				v.next++
				if number[d] == 0 {
					way = append(way, enter(d))
				} else if on[d] {
					low[v.n] = min(low[v.n], number[d])
				}
				continue
			}
			n := v.n
			way = way[:len(way)-1]
			if len(way) > 0 {
				above := way[len(way)-1].n
				low[above] = min(low[above], low[n])
			}
			if low[n] == number[n] {
				at := slices.Index(stack, n)
				sets = append(sets, slices.Clone(stack[at:]))
				for _, member := range stack[at:] {
					on[member] = false
				}
				stack = stack[:at]
			}
		}
	}
	return sets
}

// nestsItself returns the names of flows from one that is in itself to itself; nil if there is
// none.
func (g *graph) nestsItself(above []*graph) []string {
	if at := slices.Index(above, g); at >= 0 {
		var names []string
		for _, a := range append(above[at:], g) {
			names = append(names, a.name)
		}
		return names
	}
	for _, n := range g.nodes {
		if n.nested == nil {
			continue
		}
		if loop := n.nested.nestsItself(append(slices.Clone(above), g)); loop != nil {
			return loop
		}
	}
	return nil
}
