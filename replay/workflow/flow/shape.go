package flow

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
)

// Shape is what a flow looks like: plain data, which can be stored, and drawn without the flow's
// code. The same declaration always gives the same shape, in whatever order its nodes are declared.
type Shape struct {
	Flow  string      `json:"flow"`
	Nodes []ShapeNode `json:"nodes"` // by name
}

// ShapeNode is a node of a shape.
type ShapeNode struct {
	Name      string   `json:"name"`
	Kind      Kind     `json:"kind"`
	After     []string `json:"after,omitempty"`  // the parents, by name
	Quorum    int      `json:"quorum,omitempty"` // how many of them it awaits, if not all
	If        []string `json:"if,omitempty"`     // what the conditions are, in words
	Unmet     Mode     `json:"unmet,omitempty"`  // of nodes with conditions
	Exhausted Mode     `json:"exhausted,omitempty"`
	Since     string   `json:"since,omitempty"`
	Until     string   `json:"until,omitempty"`
	Undo      bool     `json:"undo,omitempty"`   // it has a compensation
	Calls     string   `json:"calls,omitempty"`  // the signal or workflow that it is about
	Nested    *Shape   `json:"nested,omitempty"` // of a flow
}

// Hash identifies the shape: 32 hexadecimal digits.
func (s *Shape) Hash() string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err) // it is plain data
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

func shapeOf(g *graph) *Shape {
	s := &Shape{Flow: g.name}
	for _, n := range g.byName() {
		node := ShapeNode{Name: n.name, Kind: n.kind, Since: n.o.Since, Until: n.o.Until, Undo: n.undo != nil, Calls: n.calls, Quorum: n.o.Quorum}
		for _, e := range n.parents() {
			node.After = append(node.After, e.node.name)
		}
		slices.Sort(node.After)
		node.After = slices.Compact(node.After)
		for _, c := range n.o.If {
			node.If = append(node.If, c.text)
		}
		if n.conditional() {
			if node.Unmet = n.o.Unmet; node.Unmet == "" {
				node.Unmet = Skip
			}
		}
		if n.exhausted() != Fail {
			node.Exhausted = n.o.Exhausted
		}
		if n.nested != nil {
			node.Nested = n.nested.compiled.Load().plan.shape // it was compiled ahead of g, without problems
		}
		s.Nodes = append(s.Nodes, node)
	}
	return s
}

// ShapeOf returns the hash of the shape with which a run began, by its history. ok is false before
// the first of its nodes has ended, and for a run of no flow.
func ShapeOf(events []journal.Event) (hash string, ok bool) {
	for i := range events {
		for j := range events[i].Issued {
			c := &events[i].Issued[j]
			if hash, ok = strings.CutPrefix(c.Name, shapePrefix); ok && c.Kind == journal.CommandChange {
				return hash, true
			}
		}
	}
	return "", false
}

// Difference says in words what of another shape is not as in this one, in the order of the nodes'
// names: nodes that are added, removed, or come after others than before, and what else of them
// differs. It is empty if the two are the same.
func (s *Shape) Difference(other *Shape) (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	i, j := 0, 0
	for i < len(s.Nodes) || j < len(other.Nodes) {
		switch {
		case j == len(other.Nodes) || i < len(s.Nodes) && s.Nodes[i].Name < other.Nodes[j].Name:
			add("node %s is removed", s.Nodes[i].Name)
			i++
		case i == len(s.Nodes) || other.Nodes[j].Name < s.Nodes[i].Name:
			add("node %s is added, after %s", other.Nodes[j].Name, listed(other.Nodes[j].After))
			j++
		default:
			s.Nodes[i].difference(&other.Nodes[j], add)
			i, j = i+1, j+1
		}
	}
	return list
}

func (n *ShapeNode) difference(other *ShapeNode, add func(string, ...any)) {
	if !slices.Equal(n.After, other.After) {
		add("node %s comes after %s, no longer after %s", n.Name, listed(other.After), listed(n.After))
	}
	a, b := *n, *other
	a.After, b.After = nil, nil
	was, _ := json.Marshal(&a) // plain data
	is, _ := json.Marshal(&b)
	if string(was) != string(is) {
		add("node %s was %s and is %s", n.Name, was, is)
	}
}

func listed(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}
