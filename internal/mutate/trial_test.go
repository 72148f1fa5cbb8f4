package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// module is a module of two packages, of which count is tested and wait is not. Its tests tell how
// often they ran.
var module = map[string]string{
	"go.mod": "module example.com/m\n\ngo 1.26\n",
	"count/count.go": `package count

import "errors"

func Count(list []int) (n int) {
	for n < len(list) {
		n++
	}
	return n
}

func Check(n int) error {
	if n < 0 {
		return errors.New("negative")
	}
	return nil
}

func Name() string { return prefix() + "x" }

func prefix() string { return "p" }
`,
	"count/count_test.go": `package count

import "testing"

func TestCount(t *testing.T) {
	t.Run("two", func(t *testing.T) {
		if got := Count(make([]int, 2)); got != 2 {
			t.Errorf("%d, want 2", got)
		}
	})
}
`,
	"user/user.go": "package user\n",
	"user/user_test.go": `package user

import (
	"testing"

	"example.com/m/count"
)

func TestUser(t *testing.T) {
	if count.Check(-1) == nil {
		t.Error("no error")
	}
}
`,
}

// TestVerdicts tries each kind of mutant in a module of its own.
func TestVerdicts(t *testing.T) {
	s, trees := smallSample(t)
	want := map[string]answer{
		"exchange <: n < len(list)":    {Verdict: killed, By: []string{"TestCount/two"}, Tests: []string{"./count"}},
		"leave out: n++":               {Verdict: timedOut, Tests: []string{"./count"}},
		`error forgotten: errors.New(`: {Verdict: invalid, Tests: []string{"./count"}}, // the import is not used
		"exchange <: n < 0":            {Verdict: survived, Tests: []string{"./count", "./user"}},
		"negate: n < 0":                {Verdict: killed, By: []string{"TestUser"}, Tests: []string{"./count", "./user"}},
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(c candidate) bool { return kindOf(want, c.name()) == "" })
	s.open = len(s.waiting)
	s.work(t.Context(), trees)
	if s.err != nil {
		t.Fatal(s.err)
	}
	got := map[string]answer{}
	for _, a := range s.answers {
		key := kindOf(want, a.Mutant)
		if a.Verdict == timedOut || a.Verdict == invalid {
			a.By = nil // what the process said last
		}
		got[key] = answer{Verdict: a.Verdict, By: a.By, Tests: a.Tests}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	for name, text := range module {
		if now, err := os.ReadFile(filepath.Join(trees.root, name)); err != nil || string(now) != text {
			t.Errorf("%s is not what it was: %v", name, err)
		}
	}
	if text := summary(s.answers); text != "4 mutants: 2 killed, 1 timed out, 1 survived (25.0 %); 1 more do not compile and are not counted" {
		t.Error(text)
	}
}

// TestASampleGoesOn: answers that are kept are not looked for again, also if other workers have
// given them out of turn, and a last line that was cut off is none.
func TestASampleGoesOn(t *testing.T) {
	s, _ := smallSample(t)
	order := slices.Clone(s.waiting)
	for _, i := range []int{0, 2} {
		a := answer{Mutant: order[i].name(), Verdict: killed}
		if i == 2 {
			a.Verdict = invalid
		}
		if err := a.keep(s.out); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(s.out, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"mutant":"` + order[1].name()); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s, err = newSample(order, 3, s.out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 3} { // and 0, which counts
		if c, ok := s.take(); !ok || c.name() != order[want].name() {
			t.Fatalf("handed out %s, want %s", c.name(), order[want].name())
		}
	}
	if c, ok := s.take(); ok {
		t.Errorf("handed out %s, which is one too many", c.name())
	}
	s.put(answer{Mutant: order[1].name(), Verdict: invalid}, nil) // so there is room for another
	if c, ok := s.take(); !ok || c.name() != order[4].name() {
		t.Errorf("handed out %s, want %s", c.name(), order[4].name())
	}
}

// TestInterruptedTrial has no answer, and the tree is as before.
func TestInterruptedTrial(t *testing.T) {
	s, tree := smallSample(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.allowed = func(tier) time.Duration { cancel(); return time.Minute }
	s.work(ctx, tree)
	if len(s.answers) != 0 || s.err != nil {
		t.Errorf("answers %v, %v", s.answers, s.err)
	}
	if text, err := os.ReadFile(filepath.Join(tree.root, "count/count.go")); err != nil || string(text) != module["count/count.go"] {
		t.Errorf("the tree has a mutant: %v", err)
	}
}

// TestBaselineMustPass: tests that fail without a mutant would kill all.
func TestBaselineMustPass(t *testing.T) {
	_, tree := smallSample(t)
	all := []guarded{{"count", []tier{{packages: []string{"./count"}}}}}
	if known, err := tree.baseline(t.Context(), all); err != nil || known["./count"] < limitFloor {
		t.Errorf("limits %v, %v", known, err)
	}
	file := filepath.Join(tree.root, "count/count_test.go")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(module["count/count_test.go"], "got != 2", "got == 2")), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.baseline(t.Context(), all); err == nil || !strings.Contains(err.Error(), "./count: killed without a mutant") {
		t.Errorf("a failing test: %v", err)
	}
}

// smallSample is all mutants of count, and a copy of the small module.
func smallSample(t *testing.T) (*sample, *tree) {
	t.Helper()
	root := t.TempDir()
	for name, text := range module {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := copyTree(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tree.remove)
	all := []guarded{{"count", []tier{{packages: []string{"./count"}}, {packages: []string{"./user"}}}}}
	order, err := candidates(root, all, 1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSample(order, len(order), filepath.Join(t.TempDir(), "answers"))
	if err != nil {
		t.Fatal(err)
	}
	s.allowed = func(tier) time.Duration { return time.Second }
	return s, tree
}

// kindOf returns the key of want that a mutant's name holds.
func kindOf(want map[string]answer, name string) string {
	for key := range want {
		if strings.Contains(name, ": "+key) {
			return key
		}
	}
	return ""
}
