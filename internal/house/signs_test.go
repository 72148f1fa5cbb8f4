package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// signPages are where an operator looks a sign up.
var signPages = []string{"docs/when-it-is-slow.md", "docs/operating-postgres.md"}

// TestSigns: every log line, metric and error that an operator can see is explained, and a test
// produces it.
func TestSigns(t *testing.T) {
	t.Parallel()
	m := thisModule(t)
	signs, broken := m.findSigns()
	if len(signs) < 60 {
		t.Errorf("only %d signs were found: the check looks past them", len(signs))
	}
	var pages string
	for _, name := range signPages {
		text, err := os.ReadFile(filepath.Join(m.root, name))
		if err != nil {
			t.Fatal(err)
		}
		pages += string(text)
	}
	words, err := wordsOfTests(os.DirFS(m.root))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range append(broken, unexplained(signs, pages, words)...) {
		t.Error(b)
	}
}

// testWords are what tests name.
type testWords struct {
	literals []string
	names    map[string]bool
}

// wordsOfTests collects the string literals and the identifiers of all tests but those of this
// package, which are about texts and produce none.
func wordsOfTests(tree fs.FS) (testWords, error) {
	w := testWords{names: map[string]bool{}}
	files := token.NewFileSet()
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || name == ".git" || name == "bench/peers" || name == "internal/house") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parseFile(tree, files, name)
		if err != nil {
			return err
		}
		w.collect(file)
		return nil
	})
	return w, err
}

func (w *testWords) collect(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
				w.literals = append(w.literals, strings.TrimSpace(text))
			}
		case *ast.Ident:
			w.names[n.Name] = true
		}
		return true
	})
}

// distinctive is the least length of a part of a message that stands for the whole of it.
const distinctive = 10

// unexplained returns a line for each sign that no page explains, or that no test names: by its
// name, its text, or a part of the text that no other sign has.
func unexplained(signs []sign, pages string, w testWords) []string {
	pages = strings.Join(strings.Fields(pages), " ")
	literals := slices.Compact(slices.Sorted(slices.Values(w.literals)))
	var problems []string
	for _, s := range signs {
		if !strings.Contains(pages, strings.Join(strings.Fields(s.text), " ")) {
			problems = append(problems, s.at+": the "+s.kind+" "+strconv.Quote(s.text)+" is neither in "+strings.Join(signPages, " nor in "))
		}
		alone := func(part string) bool {
			return !slices.ContainsFunc(signs, func(o sign) bool { return o.text != s.text && strings.Contains(o.text, part) })
		}
		tested := s.name != "" && w.names[s.name] || slices.ContainsFunc(literals, func(l string) bool {
			return strings.Contains(l, s.text) || len(l) >= distinctive && strings.Contains(s.text, l) && alone(l)
		})
		if !tested {
			problems = append(problems, s.at+": no test produces the "+s.kind+" "+strconv.Quote(s.text))
		}
	}
	return problems
}

// TestFindSigns plants one sign of each sort, and messages that cannot be looked up.
func TestFindSigns(t *testing.T) {
	t.Parallel()
	m := plant(t, map[string]string{
		"journal/a.go": `package journal
import ("context"; "errors"; "log/slog")
var (
	ErrAway = errors.New("it is away")
	errOwn  = errors.New("nobody sees it")
)
type SizeError struct{}
type note struct{ log *slog.Logger; What string }
func f(l *slog.Logger, other string) {
	const far = "it is far"
	l.Warn("it is slow", "error", errOwn)
	slog.InfoContext(context.Background(), far)
	n := note{log: l, What: "it is held"}
	n.What = "it is held again"
	n.log.Error(n.What)
	l.Log(context.Background(), slog.LevelInfo, other)
	_ = slog.String("What", "no line")
}`,
		"journal/postgres/pgtest/b.go": "package pgtest\nimport \"log/slog\"\nfunc f() { slog.Warn(\"of a test\") }",
		"bench/c.go":                   "package main\nimport \"log/slog\"\nfunc main() { slog.Warn(\"of a program\") }",
	})
	signs, broken := m.findSigns()
	var got []string
	for _, s := range signs {
		got = append(got, s.kind+" "+s.text)
	}
	slices.Sort(got)
	want := []string{"error SizeError", "error it is away", "log line it is far", "log line it is held", "log line it is held again", "log line it is slow"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if len(broken) != 1 || !strings.HasPrefix(broken[0], "journal/a.go:16: ") {
		t.Errorf("broken: %q", broken)
	}
}

// TestUnexplained plants signs that are missing in documents or in tests.
func TestUnexplained(t *testing.T) {
	t.Parallel()
	signs := []sign{
		{kind: "log line", text: "the store is away; calls are repeated", at: "a.go:1"},
		{kind: "log line", text: "the store is back", at: "a.go:2"},
		{kind: "error", text: "it is away", name: "ErrAway", at: "a.go:3"},
	}
	pages := "`the store is away; calls\nare repeated`, `the store is back`, it is away"
	for _, c := range []struct{ pages, test, want string }{
		{pages, `"calls are repeated", "the store is back", ErrAway`, ""},
		{pages, `"calls are repeated", "WARN the store is back a=b", "it is away"`, ""},
		{pages, `"the store is away; calls are repeated", "the store", ErrAway`, "a.go:2: no test"},
		{pages, `"repeated", "the store is back", ErrAway`, "a.go:1: no test"},
		{pages, `"calls are repeated", "the store is ", "back", ErrAway`, "a.go:2: no test"},
		{pages, `"calls are repeated", "the store is back"`, "a.go:3: no test"},
		{"the store is away; calls are repeated, it is away", `"calls are repeated", "the store is back", ErrAway`, "a.go:2: the log line"},
	} {
		var w testWords
		w.names = map[string]bool{}
		file, err := parser.ParseFile(token.NewFileSet(), "x_test.go", "package x\nvar _ = []any{"+c.test+"}", 0)
		if err != nil {
			t.Fatal(err)
		}
		w.collect(file)
		got := strings.Join(unexplained(signs, c.pages, w), "\n")
		if (c.want == "") != (got == "") || !strings.HasPrefix(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%s: %q, want %q", c.test, got, c.want)
		}
	}
}
