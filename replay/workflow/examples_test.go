package workflow_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// unshown are exported functions and methods that need no example.
var unshown = map[string]string{
	"SagaError.Unwrap":         "errors.Is calls it",
	"SagaError.JournalFailure": "the engine calls it",
}

// TestExamples: everything that can be called is called by a runnable example. Examples are found by what they call, not by
// their name: Lock and Unlock are best shown together.
func TestExamples(t *testing.T) {
	called := exampleCalls(t)
	for _, name := range callables(t) {
		short := name[strings.LastIndexByte(name, '.')+1:]
		switch reason, excused := unshown[name]; {
		case called[short] && excused:
			t.Errorf("%s has an example, but is excused: %s", name, reason)
		case !called[short] && !excused:
			t.Errorf("no example calls %s", name)
		}
	}
}

// exampleCalls returns the names that examples with an output select from something.
func exampleCalls(t *testing.T) map[string]bool {
	called := map[string]bool{}
	for _, file := range parsed(t, func(name string) bool { return strings.HasSuffix(name, "_test.go") }) {
		for _, ex := range doc.Examples(file) {
			if ex.Output == "" {
				t.Errorf("example %s has no output, so it is not run", ex.Name)
			}
			ast.Inspect(ex.Code, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					called[s.Sel.Name] = true
				}
				return true
			})
		}
	}
	return called
}

// callables lists the exported functions, and methods as Type.Method.
func callables(t *testing.T) (names []string) {
	for _, file := range parsed(t, func(name string) bool { return !strings.HasSuffix(name, "_test.go") }) {
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() {
				continue
			}
			if fn.Recv == nil {
				names = append(names, fn.Name.Name)
			} else if receiver := typeName(fn.Recv.List[0].Type); ast.IsExported(receiver) {
				names = append(names, receiver+"."+fn.Name.Name)
			}
		}
	}
	return names
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func parsed(t *testing.T, want func(name string) bool) (files []*ast.File) {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || !want(e.Name()) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}
