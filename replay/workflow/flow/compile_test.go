package flow_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestCompile: mistakes in what nodes take and give are found by the compiler.
func TestCompile(t *testing.T) {
	const head = `package p
import ("context"; "github.com/reprise-run/reprise/replay/workflow/flow"; "github.com/reprise-run/reprise/replay/workflow")
const Name workflow.Name[string, flow.Results] = "f"
func length(_ context.Context, s string) (int, error) { return len(s), nil }
func twice(_ context.Context, i int) (int, error) { return 2 * i, nil }
var f = flow.New(Name, nil)
var a = flow.Step(f, "a", f.Input(), length, nil)
var _ workflow.Context
`
	imports := importer.ForCompiler(token.NewFileSet(), "gc", exportOf(t))
	for code, want := range map[string]string{
		`var b = flow.Step(f, "b", a, twice, nil)`:                                                             "",
		`var b = flow.Step(f, "b", flow.Apply(a, func(i int) string { return "x" }), length, nil)`:             "",
		`var b = flow.Step(f, "b", f.Input(), twice, nil)`:                                                     "does not match",
		`var b = flow.Step(f, "b", flow.Maybe(a), twice, nil)`:                                                 "does not match",
		`var b = flow.Map(f, "b", a, twice, nil)`:                                                              "does not match",
		`var b = flow.Step(f, "b", flow.Join(a, a, func(i int, s string) int { return i }), twice, nil)`:       "does not match",
		`var b = a.Undo(func(context.Context, string) error { return nil }, nil)`:                              "cannot use (func",
		`var c = flow.When(a, func(s string) bool { return true })`:                                            "does not match",
		`var _, _, _ = flow.Nest(f, "n", a, f, nil).In(nil)`:                                                   "does not match",
		`var g = flow.New(workflow.Name[string, int]("g"), nil)`:                                               "does not match",
		`var w = flow.Wait(f, "w", workflow.Signal[bool]("s"), nil); var b = flow.Step(f, "b", w, twice, nil)`: "does not match",
	} {
		files := token.NewFileSet()
		syntax, err := parser.ParseFile(files, "p.go", head+code, 0)
		if err == nil {
			_, err = (&types.Config{Importer: imports}).Check("p", files, []*ast.File{syntax}, nil)
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s\n%v, want %q", code, err, want)
		}
	}
}

// exportOf finds what the compiler has left of this package and those that it imports.
func exportOf(t *testing.T) importer.Lookup {
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		at[name] = file
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(at[path]) }
}
