package flow

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// nodeName is what nodes may be called. A name is a step's, a word in pictures and a key in JSON.
var nodeName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// compile checks the declaration once and keeps what came of it. Nodes of several clusters may
// register a flow at once: all of them get the first one's.
func (g *graph) compile() (*plan, error) {
	if c := g.compiled.Load(); c != nil {
		return c.plan, c.err
	}
	return g.compileAs(g.nestingProblem())
}

// compileAs compiles a flow whose nesting has a problem, or none. What holds for the nesting of a
// flow holds for those in it, so only the outermost one is asked.
func (g *graph) compileAs(nesting string) (*plan, error) {
	if g.compiled.Load() == nil {
		c := &compiled{}
		if problems := g.problems(nesting); len(problems) > 0 {
			c.err = &DeclarationError{Flow: g.name, Problems: problems}
		} else {
			c.plan = newPlan(g)
		}
		g.compiled.CompareAndSwap(nil, c)
	}
	c := g.compiled.Load()
	return c.plan, c.err
}

// problems returns everything that is wrong with the declaration. Flows whose nesting has a problem
// are not gone through.
func (g *graph) problems(nesting string) []string {
	var list []string
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if err := journal.CheckName("workflow", g.name); err != nil {
		add("%v", err)
	}
	switch n := len(g.nodes); {
	case n == 0:
		add("it has no node")
	case n > nodesMax:
		add("it has %d nodes: at most %d are possible; a map is one node, however long its list is", n, nodesMax)
		return list
	}
	if g.steps != nil {
		if err := trial(stepTrial("step", g.steps)); err != nil {
			add("the options of its steps: %v", err)
		}
	}
	names := map[string]int{}
	for _, n := range g.nodes {
		if names[n.name]++; names[n.name] == 2 {
			add("node %s is declared more than once: give each a name of its own", n.name)
		}
		for _, p := range n.problems() {
			add("node %s: %s", n.name, p)
		}
	}
	for _, c := range g.cycles() {
		add("nodes wait for each other: %s", strings.Join(c, " → "))
	}
	if nesting != "" {
		list = append(list, nesting)
	} else {
		list = append(list, g.nestedProblems()...)
	}
	if len(list) > problemsMax {
		more := len(list) - problemsMax
		list = append(list[:problemsMax], fmt.Sprintf("and %d more", more))
	}
	return list
}

// nestedProblems are those of the flows that nodes are. Their declaration ends with this one's,
// which holds their shapes.
func (g *graph) nestedProblems() (list []string) {
	for _, n := range g.nodes {
		if n.nested == nil {
			continue
		}
		if _, err := n.nested.compileAs(""); err != nil {
			list = append(list, fmt.Sprintf("node %s: %v", n.name, err))
		}
	}
	return list
}

// problems returns what is wrong with a node.
func (n *node) problems() []string {
	list := append([]string(nil), n.notes...)
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if !nodeName.MatchString(n.name) {
		add("a name begins with a letter or _, and has letters, digits, _ and -")
	}
	if len(n.name) > nameBytesMax {
		add("its name has %d bytes: at most %d are possible", len(n.name), nameBytesMax)
	}
	n.edgeProblems(add)
	n.optionProblems(add)
	if n.undos > 1 {
		add("it has more than one compensation")
	}
	for _, c := range n.o.If {
		if c.holds == nil {
			add("a condition is zero: make it with When, Contains, Skipped or Not")
		}
		if c.problem != "" {
			add("%s", c.problem)
		}
	}
	return list
}

func (n *node) edgeProblems(add func(string, ...any)) {
	ownConditions := len(n.takes) // conditions may look at what is not there
	for i, e := range n.parents() {
		switch p := e.node; {
		case p == nil:
			add("a source, a function of one, or a node that it waits for is nil")
		case p.graph != n.graph:
			add("it comes after node %s of another flow, %s: use what Nest returns", p.name, p.graph.name)
		case e.needs && i < ownConditions && n.o.Quorum > 0:
			add("it takes the result of node %s, which may not have ended when its quorum has: take Maybe or Or of it", p.name)
		case e.needs && i < ownConditions && n.kind != KindMap && p.skippable():
			add("it takes the result of node %s, which may be skipped: take Maybe or Or of it, or let %s skip its descendants", p.name, p.name)
		}
	}
}

func (n *node) optionProblems(add func(string, ...any)) {
	o := &n.o
	steps := n.kind == KindStep || n.kind == KindMap
	child := n.kind == KindCall || n.kind == KindFlow
	for _, c := range []struct {
		wrong bool
		text  string
	}{
		{o.Step != nil && !steps, "option Step is for steps and maps"},
		{o.Child != nil && !child, "option Child is for Call and Nest"},
		{(o.Chunk != 0 || o.Window != 0) && n.kind != KindMap, "options Chunk and Window are for maps"},
		{o.Chunk < 0, fmt.Sprintf("option Chunk is %d: it must be positive, or 0 for the default", o.Chunk)},
		{o.Window < 0, fmt.Sprintf("option Window is %d: it must be positive, or 0 for the default", o.Window)},
		{o.Quorum < 0 || o.Quorum > len(distinct(n.parents())),
			fmt.Sprintf("option Quorum is %d: it must be between 1 and the number of its parents, or 0 for all of them", o.Quorum)},
		{o.Timeout < 0, fmt.Sprintf("option Timeout is %s: it must be positive, or 0 for none", o.Timeout)},
		{!o.Unmet.known(), fmt.Sprintf("option Unmet is %q: it must be one of the Mode constants", o.Unmet)},
		{!o.Exhausted.known(), fmt.Sprintf("option Exhausted is %q: it must be one of the Mode constants", o.Exhausted)},
		{o.Unmet != "" && !n.conditional(), "option Unmet is for nodes with conditions"},
		{o.Since != "" && o.Since == o.Until, "options Since and Until name one change: the node would never run"},
		{strings.HasPrefix(o.Since, shapePrefix) || strings.HasPrefix(o.Until, shapePrefix),
			"options Since and Until must not begin with " + shapePrefix + ", as the marks of shapes do"},
		{strings.HasPrefix(o.Since, "~") || strings.HasPrefix(o.Until, "~"), "options Since and Until must not begin with ~"},
	} {
		if c.wrong {
			add("%s", c.text)
		}
	}
	for _, id := range []string{o.Since, o.Until} {
		if id == "" {
			continue
		}
		if err := journal.CheckName("change", id); err != nil {
			add("%v", err)
		}
	}
	trials := []func(workflow.Context) error{n.trial}
	if steps && o.Step != nil && o.Step != n.graph.steps {
		trials = append(trials, stepTrial("step", o.Step))
	}
	if n.undoOptions != nil {
		trials = append(trials, stepTrial("compensation", n.undoOptions))
	}
	for _, t := range trials {
		if err := trial(t); err != nil {
			add("%v", err)
		}
	}
}

// distinct are the nodes that edges come from.
func distinct(list []edge) map[*node]bool {
	nodes := make(map[*node]bool, len(list))
	for _, e := range list {
		nodes[e.node] = true
	}
	return nodes
}

func (m Mode) known() bool { return m == "" || m == Fail || m == Skip || m == SkipDescendants }

func stepTrial(name string, o *workflow.StepOptions) func(workflow.Context) error {
	return func(ctx workflow.Context) error {
		return workflow.Do(ctx, name, func(context.Context) error { return nil }, o)
	}
}

// trial calls verbs on a machine that nothing comes of, and returns why one of them refuses its
// arguments. So what is valid is said in one place, where the verbs are. nil is a trial, too.
func trial(fn func(workflow.Context) error) error {
	if fn == nil {
		return nil
	}
	var refusal error
	def := workflow.Define("trial", 1, func(ctx workflow.Context, _ struct{}) (struct{}, error) {
		refusal = fn(ctx)
		return struct{}{}, nil
	})
	m := replay.New(def, replay.Info{
		Run: journal.RunID{1}, Workflow: def.Name, Version: 1, Generation: 1, Queue: journal.DefaultQueue,
		Input: journal.Payload{Data: []byte("{}")},
	}, journal.New(nil, nil))
	defer m.Close()
	if err := m.Step(&journal.Event{Kind: journal.RunStarted, Seq: 1}); err != nil {
		return err
	}
	if inner := unwrapped(refusal); inner != nil {
		return inner // without the line in this package that called the verb
	}
	return refusal
}

func unwrapped(err error) error {
	if e, ok := err.(interface{ Unwrap() error }); ok {
		return e.Unwrap()
	}
	return nil
}
