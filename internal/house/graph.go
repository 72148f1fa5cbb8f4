package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

// graph maps a node to the nodes that it uses, each with the names that it uses there.
type graph map[string]map[string][]string

func (g graph) add(from, to, name string) {
	if g[from] == nil {
		g[from] = map[string][]string{}
	}
	if to != "" && to != from && !slices.Contains(g[from][to], name) {
		g[from][to] = append(g[from][to], name)
	}
}

// fileGraph returns which file of a package leans on which other: on a function, a method, a
// variable or a constant that is declared there; withTypes also on a type.
//
// Types alone make no arrow that the rule is about. A run holds a step and a step knows its run:
// the two types name each other wherever they stand, and so do a type and the files that its
// methods are spread over. What tells the upper file from the lower one is who calls whom.
func (m *module) fileGraph(u *unit, withTypes bool) graph {
	g := graph{}
	for _, syntax := range u.syntax {
		from := path.Base(m.file(syntax.FileStart))
		g.add(from, "", "")
		ast.Inspect(syntax, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			if used := origin(u.info.Uses[id]); used != nil && used.Pkg() == u.types && declared(used, withTypes) {
				g.add(from, path.Base(m.file(used.Pos())), used.Name())
			}
			return true
		})
	}
	return g
}

// declared tells whether an object is of package level, or a method of a type that is.
func declared(o types.Object, withTypes bool) bool {
	switch o := o.(type) {
	case *types.Func:
		recv := o.Signature().Recv()
		return recv == nil || !types.IsInterface(recv.Type())
	case *types.TypeName:
		return withTypes && o.Parent() == o.Pkg().Scope()
	default:
		return o.Parent() == o.Pkg().Scope()
	}
}

// origin returns what a generic function or method was instantiated from.
func origin(o types.Object) types.Object {
	if f, ok := o.(*types.Func); ok {
		return f.Origin()
	}
	return o
}

// circles returns the groups of nodes that reach each other, the largest first (Tarjan).
func (g graph) circles() [][]string {
	var (
		found     [][]string
		stack     []string
		index     = map[string]int{}
		low       = map[string]int{}
		onStack   = map[string]bool{}
		visit     func(n string)
		neighbors = func(n string) []string { return slices.Sorted(maps.Keys(g[n])) }
	)
	visit = func(n string) {
		index[n] = len(index) + 1
		low[n] = index[n]
		stack, onStack[n] = append(stack, n), true
		for _, to := range neighbors(n) {
			if index[to] == 0 {
				visit(to)
				low[n] = min(low[n], low[to])
			} else if onStack[to] {
				low[n] = min(low[n], index[to])
			}
		}
		if low[n] != index[n] {
			return
		}
		at := slices.Index(stack, n)
		group := slices.Sorted(slices.Values(stack[at:]))
		for _, member := range group {
			onStack[member] = false
		}
		if stack = stack[:at]; len(group) > 1 {
			found = append(found, group)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(g)) {
		if index[n] == 0 {
			visit(n)
		}
	}
	slices.SortStableFunc(found, func(a, b []string) int { return cmp.Compare(len(b), len(a)) })
	return found
}

// packageGraph returns which package imports which.
func (m *module) packageGraph() graph {
	g := graph{}
	for _, u := range m.units {
		g.add(u.path, "", "")
		for _, to := range u.own {
			g.add(u.path, to, "")
		}
	}
	return g
}

// heights gives each node of a graph without circles a height: the longest way down from it.
func (g graph) heights() map[string]int {
	heights := map[string]int{}
	var height func(n string) int
	height = func(n string) int {
		if h, ok := heights[n]; ok {
			return h
		}
		heights[n] = 0 // ends the walk inside a circle
		h := 0
		for to := range g[n] {
			h = max(h, height(to)+1)
		}
		heights[n] = h
		return h
	}
	for _, n := range slices.Sorted(maps.Keys(g)) {
		height(n)
	}
	return heights
}

// printGraph prints the nodes from the top down, each with what it uses, then the circles and who
// in them uses what.
func printGraph(w io.Writer, g graph) {
	heights := g.heights()
	nodes := slices.SortedFunc(maps.Keys(g), func(a, b string) int {
		return cmp.Or(cmp.Compare(heights[b], heights[a]), cmp.Compare(a, b))
	})
	for _, n := range nodes {
		fmt.Fprintf(w, "  %2d  %s → %s\n", heights[n], n, strings.Join(slices.Sorted(maps.Keys(g[n])), " "))
	}
	circles := g.circles()
	if len(circles) == 0 {
		fmt.Fprintf(w, "  no circle\n")
	}
	for _, circle := range circles {
		fmt.Fprintf(w, "  circle of %d: %s\n", len(circle), strings.Join(circle, " "))
		for _, from := range circle {
			for _, to := range circle {
				if names := g[from][to]; len(names) > 0 {
					fmt.Fprintf(w, "        %s → %s: %s\n", from, to, strings.Join(slices.Sorted(slices.Values(names)), " "))
				}
			}
		}
	}
}
