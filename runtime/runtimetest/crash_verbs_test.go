package runtimetest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// uncrashed are exported functions and methods of package workflow that no workflow's code calls.
var uncrashed = map[string]string{
	"Define":                   "runtime.Handle calls it, before there is a run",
	"SagaError.Unwrap":         "errors.Is calls it",
	"SagaError.JournalFailure": "the engine calls it when a run fails",
}

const (
	workflowPath = "github.com/reprise-run/reprise/replay/workflow"
	kitPath      = "github.com/reprise-run/reprise/runtime/runtimetest"
)

// TestEveryVerbIsCrashed: every exported function and method of package workflow, and every option, is used in a test that crashes at
// every turn, here or in package runtime.
func TestEveryVerbIsCrashed(t *testing.T) {
	u := newUniverse(t)
	used := map[string]bool{}
	for _, dir := range []string{".", ".."} {
		u.crashed(u.check(dir, u.files(filepath.Join(dir, "*_test.go"), "_test")), used)
	}
	names := slices.Sorted(maps.Values(u.verbs))
	for _, verb := range names {
		switch reason, excused := uncrashed[verb]; {
		case used[verb] && excused:
			t.Errorf("%s is in a test that crashes, but is excused: %s", verb, reason)
		case !used[verb] && !excused:
			t.Errorf("no test that crashes at every turn uses %s", verb)
		}
	}
	if len(names) < 120 {
		t.Errorf("only %d verbs and options were found", len(names))
	}
}

// TestVerbsThatCount: what is not reached from EveryCrash does not count, nor what only has a verb's name.
func TestVerbsThatCount(t *testing.T) {
	u := newUniverse(t)
	file := u.parse("some_test.go", `package some_test
		import ("sync"; "testing"; "github.com/reprise-run/reprise/replay/workflow"; "github.com/reprise-run/reprise/runtime/runtimetest")
		func TestCrashes(t *testing.T) {
			runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
				runtimetest.Handle(e, "", func(ctx workflow.Context, _ int) (int, error) {
					var mu sync.Mutex
					mu.Lock()
					defer workflow.NewSemaphore(1, "").Release(1)
					_, _ = workflow.Map(ctx, []int{1}, below, &workflow.MapOptions{Limit: 1})
					return below(ctx, 0)
				}, nil)
			})
			runtimetest.Test(t, func(e *runtimetest.Env) { runtimetest.Handle(e, "", apart, nil) })
		}
		func below(ctx workflow.Context, _ int) (int, error) { return 0, workflow.Sleep(ctx, 1) }
		func apart(ctx workflow.Context, _ int) (int, error) { return 0, workflow.Await(ctx, nil) }`)
	used := map[string]bool{}
	u.crashed(u.check("some_test", []*ast.File{file}), used)
	want := map[string]bool{"Map": true, "MapOptions.Limit": true, "NewSemaphore": true, "Semaphore.Release": true, "Sleep": true}
	if diff := cmp.Diff(want, used); diff != "" {
		t.Errorf("verbs that count (-want +got)\n%s", diff)
	}
}

// universe is what the type checker knows: package workflow, and of others no more than stubs. What comes from elsewhere is unknown,
// and a verb that is called on something unknown does not count.
type universe struct {
	t        *testing.T
	fset     *token.FileSet
	packages map[string]*types.Package
	verbs    map[types.Object]string // of package workflow, by what declares them
}

func newUniverse(t *testing.T) *universe {
	u := &universe{t: t, fset: token.NewFileSet(), packages: map[string]*types.Package{}, verbs: map[types.Object]string{}}
	c := u.check(workflowPath, u.files("../../replay/workflow/*.go", "workflow"))
	u.packages[workflowPath] = c.pkg
	for o := range c.declarations() {
		if fn, ok := o.(*types.Func); ok {
			u.verbs[fn] = verb(fn)
		}
	}
	for _, name := range c.pkg.Scope().Names() {
		s, ok := c.pkg.Scope().Lookup(name).Type().Underlying().(*types.Struct)
		if ok && (strings.HasSuffix(name, "Options") || strings.HasSuffix(name, "Policy")) {
			for i := range s.NumFields() {
				u.verbs[s.Field(i)] = name + "." + s.Field(i).Name()
			}
		}
	}
	maps.DeleteFunc(u.verbs, func(o types.Object, name string) bool { return !o.Exported() || !token.IsExported(name) })
	return u
}

// verb is the name of a function, as Type.Method for a method.
func verb(fn *types.Func) string {
	r := fn.Signature().Recv()
	if r == nil {
		return fn.Name()
	}
	of := r.Type()
	if p, ok := of.(*types.Pointer); ok {
		of = p.Elem()
	}
	return of.(*types.Named).Obj().Name() + "." + fn.Name()
}

// stubs are what tests need of other packages for the verbs in them to be known.
var stubs = map[string]string{
	"context": "type Context interface{ Err() error }",
	"time":    "type Time struct{}; type Duration int64; const Microsecond, Millisecond, Second, Minute, Hour Duration = 1, 1, 1, 1, 1",
	"testing": "type T struct{}; func (*T) Run(string, func(*T)) bool",
	"fmt":     "func Sprint(...any) string; func Sprintf(string, ...any) string; func Errorf(string, ...any) error",
	"errors":  "func New(string) error; func Is(a, b error) bool; func Join(...error) error; func AsType[E error](error) (E, bool)",
	kitPath: `import "testing"; import "time"
		type Env struct{ *testing.T }
		func (*Env) After(time.Duration, func())
		func EveryCrash(*testing.T, func(*Env))`,
}

// Import implements types.Importer.
func (u *universe) Import(of string) (*types.Package, error) {
	if p := u.packages[of]; p != nil {
		return p, nil
	}
	p := u.check(of, []*ast.File{u.parse(of, "package "+path.Base(of)+"; "+stubs[of])}).pkg
	u.packages[of] = p
	return p, nil
}

func (u *universe) parse(name string, src any) *ast.File {
	u.t.Helper()
	file, err := parser.ParseFile(u.fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		u.t.Fatal(err)
	}
	return file
}

// files are those that match the pattern and belong to a package whose name ends in suffix.
func (u *universe) files(pattern, suffix string) (list []*ast.File) {
	u.t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		u.t.Fatal(err)
	}
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			u.t.Fatal(err)
		}
		if file := u.parse(name, src); strings.HasSuffix(file.Name.Name, suffix) {
			list = append(list, file)
		}
	}
	return list
}

// code is a package with what its names refer to.
type code struct {
	files []*ast.File
	pkg   *types.Package
	info  *types.Info
}

func (u *universe) check(importPath string, files []*ast.File) *code {
	c := &code{files: files, info: &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}}
	known := &types.Config{Importer: u, Error: func(error) {}} // errors are about what is not known
	c.pkg, _ = known.Check(importPath, u.fset, files, c.info)
	c.pkg.MarkComplete()
	return c
}

// crashed adds the verbs that are used in what is given to EveryCrash, or in functions and variables of the package that this
// names, and so on.
func (u *universe) crashed(c *code, used map[string]bool) {
	declared := c.declarations()
	seen := map[types.Object]bool{}
	var visit func(n ast.Node)
	visit = func(n ast.Node) {
		for n := range ast.Preorder(n) {
			id, ok := n.(*ast.Ident)
			if !ok {
				continue
			}
			o := origin(c.info.Uses[id])
			if name := u.verbs[o]; name != "" {
				used[name] = true
			}
			if decl := declared[o]; decl != nil && !seen[o] {
				seen[o] = true
				visit(decl)
			}
		}
	}
	for _, file := range c.files {
		for n := range ast.Preorder(file) {
			if call, ok := n.(*ast.CallExpr); ok {
				if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "EveryCrash" {
					visit(call)
				}
			}
		}
	}
}

// origin is what was declared, without the type arguments that a use has.
func origin(o types.Object) types.Object {
	switch o := o.(type) {
	case *types.Func:
		return o.Origin()
	case *types.Var:
		return o.Origin()
	}
	return o
}

// declarations of functions, methods and variables of the package.
func (c *code) declarations() map[types.Object]ast.Node {
	m := map[types.Object]ast.Node{}
	for _, file := range c.files {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				m[c.info.Defs[d.Name]] = d
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if v, ok := s.(*ast.ValueSpec); ok {
						for _, name := range v.Names {
							m[c.info.Defs[name]] = v
						}
					}
				}
			}
		}
	}
	delete(m, nil)
	return m
}
