package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGraphShowsCircles plants two files that call each other, beside two that only name each
// other's types: a pair of types may stand in two files, a pair of callers may not.
func TestGraphShowsCircles(t *testing.T) {
	t.Parallel()
	m := plant(t, map[string]string{
		"p/top.go":    "package p\nfunc Top() { low(limit); node{}.walk() }",
		"p/low.go":    "package p\nfunc low(n int) { if n > 0 { middle(n - 1) } }",
		"p/middle.go": "package p\nfunc middle(n int) { low(n) }",
		"p/node.go":   "package p\ntype node struct { e *edge }\nfunc (n node) walk() {}",
		"p/edge.go":   "package p\ntype edge struct { from, to *node }",
		"p/limits.go": "package p\nconst limit = 3",
		"q/q.go":      "package q\nimport \"example.org/m/p\"\nfunc Q() { p.Top() }",
	})
	for _, u := range m.units {
		if u.path != "p" {
			continue
		}
		if diff := cmp.Diff([][]string{{"low.go", "middle.go"}}, m.fileGraph(u, false).circles()); diff != "" {
			t.Errorf("circles of calls (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([][]string{{"edge.go", "node.go"}, {"low.go", "middle.go"}}, m.fileGraph(u, true).circles()); diff != "" {
			t.Errorf("circles of calls and types (-want +got):\n%s", diff)
		}
		var out bytes.Buffer
		printGraph(&out, m.fileGraph(u, false))
		for _, want := range []string{"top.go → limits.go low.go node.go", "circle of 2: low.go middle.go", "low.go → middle.go: middle"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the print lacks %q:\n%s", want, out.String())
			}
		}
	}
	if got := m.packageGraph(); len(got["q"]) != 1 || len(got["p"]) != 0 || len(got.circles()) != 0 {
		t.Errorf("packages %v, want q → p", got)
	}
}

// TestCommentLines counts a file with every kind of line.
func TestCommentLines(t *testing.T) {
	t.Parallel()
	comments, code := commentLines("// one\npackage p // no\n\n/* two\nthree */\nconst s = `\n-- four\nselect 1\n`\n// five\nvar x int\n")
	if comments != 5 || code != 5 {
		t.Errorf("%d comments and %d other lines, want 5 and 5", comments, code)
	}
}

// TestMeasure counts a package whose figures are known.
func TestMeasure(t *testing.T) {
	t.Parallel()
	m := plant(t, map[string]string{"p/p.go": "package p\n\n// T is one.\ntype T struct{ a, c int }\n\nfunc (T) A() {}\nfunc (T) b() {\n\t_ = 1\n}\nconst C = 1\n"})
	got, err := m.measure(m.units[0])
	if err != nil {
		t.Fatal(err)
	}
	want := measured{folder: "p", functions: []int{1, 3}, files: []int{10}, comments: 1, code: 7, exported: 3, types: []typeSize{{"p", "T", 2, 2}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(measured{}, typeSize{})); diff != "" {
		t.Errorf("measured (-want +got):\n%s", diff)
	}
	var out bytes.Buffer
	if err := printMeasures(&out, m); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "T 2/2") || !strings.Contains(out.String(), "tests 0 + kits 0 lines to 10 of the library") {
		t.Errorf("the print lacks figures:\n%s", out.String())
	}
}

// circular are packages outside of the engine whose files still call each other in a circle, with
// as many files as the largest circle has. The numbers only go down.
var circular = map[string]int{
	"journal/driver": 2, "journal/journaltest": 2, "journal/journaltest/model": 6, "journal/memory": 6,
	"journal/postgres": 23, "journal/postgres/pgserver": 2, "journal/sqlite": 13,
	"runtime/acceptance/order": 7, "runtime/runtimetest": 5,
}

// TestCircles: no package imports what stands on it, and no file calls what calls it. In a circle
// no file can be understood, or tested, before the others.
func TestCircles(t *testing.T) {
	t.Parallel()
	m := thisModule(t)
	for _, circle := range m.packageGraph().circles() {
		t.Errorf("packages import each other: %s", strings.Join(circle, " "))
	}
	for _, u := range m.units {
		largest := 0
		g := m.fileGraph(u, false)
		for _, circle := range g.circles() {
			largest = max(largest, len(circle))
		}
		switch allowed := circular[u.path]; {
		case largest > allowed:
			var out bytes.Buffer
			printGraph(&out, g)
			t.Errorf("files of %s call each other in a circle of %d, allowed are %d: let the lower one return or take what it calls for\n%s", u.path, largest, allowed, out.String())
		case largest < allowed:
			t.Errorf("files of %s: the largest circle is down to %d: write that into the list", u.path, largest)
		}
	}
}
