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
// name, back to it is found breadth first. All of it is linear in nodes and edges.
func (g *graph) cycles() (list [][]string) {
	next := map[*node][]*node{} // the nodes that come after one
	for _, n := range g.nodes {
		for _, e := range n.parents() {
			if e.node == nil || e.node.graph != g {
				continue
			}
			// All edges to n are looked at together, so n is last where it is at all.
			if list := next[e.node]; len(list) == 0 || list[len(list)-1] != n {
				next[e.node] = append(list, n)
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
	from, within := map[*node]*node{}, make(map[*node]bool, len(set))
	for _, n := range set {
		within[n] = true
	}
	for queue := []*node{first}; len(queue) > 0; queue = queue[1:] {
		for _, n := range next[queue[0]] {
			if !within[n] {
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
				at := len(stack) - 1
				for stack[at] != n { // from the top: of a chain it is the last
					at--
				}
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
