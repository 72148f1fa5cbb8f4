package flow

import (
	"fmt"
	"strconv"
	"strings"
)

// Mermaid draws the shape as a flowchart of Mermaid.
func (s *Shape) Mermaid() string { return (&State{Shape: s}).Mermaid() }

// DOT draws the shape in the language of Graphviz.
func (s *Shape) DOT() string { return (&State{Shape: s}).DOT() }

// Mermaid draws the state as a flowchart of Mermaid: the nodes have a colour and a word for where
// they stand.
func (s *State) Mermaid() string {
	d := &mermaid{}
	d.line("flowchart TD")
	d.shape(s.Shape, s.Nodes, "n", "    ")
	if s.Nodes != nil {
		for _, c := range palette {
			d.line("    classDef %s fill:%s,stroke:%s", c.status, c.fill, c.stroke)
		}
	}
	return d.String()
}

// DOT draws the state in the language of Graphviz.
func (s *State) DOT() string {
	d := &dot{}
	d.line("digraph %s {", strconv.Quote(s.Shape.Flow))
	d.line("    node [shape=box, style=filled, fillcolor=white]")
	d.shape(s.Shape, s.Nodes, "n", "    ")
	d.line("}")
	return d.String()
}

// palette is how statuses look.
var palette = []struct {
	status       Status
	fill, stroke string
}{
	{StatusWaiting, "#ffffff", "#888888"},
	{StatusRunning, "#cfe2ff", "#0a58ca"},
	{StatusCompleted, "#d1e7dd", "#146c43"},
	{StatusSkipped, "#eeeeee", "#aaaaaa"},
	{StatusFailed, "#f8d7da", "#b02a37"},
	{StatusCancelled, "#fff3cd", "#997404"},
	{StatusLeft, "#ffffff", "#cccccc"},
}

// canvas is text that grows line by line.
type canvas struct{ strings.Builder }

func (c *canvas) line(format string, args ...any) { fmt.Fprintf(c, format+"\n", args...) }

// caption is what stands in a node, one line each.
func caption(n *ShapeNode, st *NodeState) []string {
	lines := []string{n.Name}
	switch n.Kind {
	case KindMap:
		lines[0] += " (each item)"
	case KindSignal:
		lines = append(lines, "waits for signal "+n.Calls)
	case KindTime:
		lines = append(lines, "waits for a time")
	case KindCall:
		lines = append(lines, "calls "+n.Calls)
	case KindFlow:
		lines = append(lines, "flow "+n.Calls)
	}
	for _, c := range n.If {
		lines = append(lines, "if "+c)
	}
	if st == nil {
		return lines
	}
	status := string(st.Status)
	if st.Reason != "" {
		status += ", " + string(st.Reason)
	}
	if n.Kind == KindMap && st.Steps > 0 {
		status += fmt.Sprintf(", %d steps done", st.Steps)
	}
	if st.Undone {
		status += ", undone"
	}
	return append(lines, status)
}

// stateAt is the state of the node with an index, nil where a shape alone is drawn.
func stateAt(states []NodeState, i int) *NodeState {
	if i < len(states) {
		return &states[i]
	}
	return nil
}

// mermaid is a picture in Mermaid's language.
type mermaid struct{ canvas }

// brackets give the kinds of nodes their outlines.
var brackets = map[Kind][2]string{
	KindStep: {"[", "]"}, KindMap: {"[[", "]]"}, KindSignal: {">", "]"}, KindTime: {"([", "])"},
	KindCall: {"[/", "/]"}, KindFlow: {"[/", "/]"}, KindCode: {"{{", "}}"},
}

func (d *mermaid) shape(s *Shape, states []NodeState, prefix, indent string) {
	index := map[string]int{}
	for i := range s.Nodes {
		n, id := &s.Nodes[i], prefix+strconv.Itoa(i)
		index[n.Name] = i
		text := escaped(caption(n, stateAt(states, i)))
		if n.Nested != nil {
			d.line(`%ssubgraph %s["%s"]`, indent, id, text)
			d.shape(n.Nested, nil, id+"_", indent+"    ")
			d.line("%send", indent)
		} else {
			b := brackets[n.Kind]
			d.line(`%s%s%s"%s"%s`, indent, id, b[0], text, b[1])
		}
		if st := stateAt(states, i); st != nil {
			d.line("%sclass %s %s", indent, id, st.Status)
		}
	}
	for i := range s.Nodes {
		arrow := "-->"
		if s.Nodes[i].Unmet != "" {
			arrow = "-.->"
		}
		for _, parent := range s.Nodes[i].After {
			d.line("%s%s%d %s %s%d", indent, prefix, index[parent], arrow, prefix, i)
		}
	}
}

// escaped is text between quotes in Mermaid, which knows entities and no backslashes.
func escaped(lines []string) string {
	r := strings.NewReplacer("&", "#amp;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "#", "#35;", "`", "#96;", "\n", " ")
	for i := range lines {
		lines[i] = r.Replace(lines[i])
	}
	return strings.Join(lines, "<br>")
}

// dot is a picture in the language of Graphviz.
type dot struct{ canvas }

var outlines = map[Kind]string{
	KindMap: "box3d", KindSignal: "cds", KindTime: "oval", KindCall: "component", KindFlow: "component", KindCode: "hexagon",
}

func (d *dot) shape(s *Shape, states []NodeState, prefix, indent string) {
	index := map[string]int{}
	for i := range s.Nodes {
		n, id := &s.Nodes[i], prefix+strconv.Itoa(i)
		index[n.Name] = i
		st := stateAt(states, i)
		more := ""
		if outline := outlines[n.Kind]; outline != "" {
			more += ", shape=" + outline
		}
		if st != nil {
			more += ", fillcolor=" + strconv.Quote(fillOf(st.Status))
		}
		d.line("%s%s [label=%s%s]", indent, id, quoted(caption(n, st)), more)
		if n.Nested != nil {
			d.line("%ssubgraph cluster_%s {", indent, id)
			d.line("%s    label=%s", indent, strconv.Quote(n.Nested.Flow))
			d.shape(n.Nested, nil, id+"_", indent+"    ")
			d.line("%s}", indent)
		}
	}
	for i := range s.Nodes {
		style := ""
		if s.Nodes[i].Unmet != "" {
			style = " [style=dashed]"
		}
		for _, parent := range s.Nodes[i].After {
			d.line("%s%s%d -> %s%d%s", indent, prefix, index[parent], prefix, i, style)
		}
	}
}

func fillOf(status Status) string {
	for _, c := range palette {
		if c.status == status {
			return c.fill
		}
	}
	return "#ffffff"
}

// quoted is a label of Graphviz. A line ends with \n, and quotes and backslashes have one before
// them.
func quoted(lines []string) string {
	r := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ")
	for i := range lines {
		lines[i] = r.Replace(lines[i])
	}
	return `"` + strings.Join(lines, `\n`) + `"`
}
