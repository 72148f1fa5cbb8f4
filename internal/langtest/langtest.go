// Package langtest tells which functions, methods and options of the authoring language some test
// code uses. Three tests ask: whether each has an example, whether each is crashed at every turn,
// and whether each is in the simulator's programs. A verb that is added is then missing in all
// three until somebody has thought of it.
//
// Code is type-checked without its imports, apart from package workflow itself and a few stubs:
// that takes milliseconds. What comes from any other package is unknown, and a verb that is called
// on something unknown does not count. So the answer errs towards "not used".
package langtest

import (
	"go/ast"
	"go/constant"
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
)

const (
	workflowPath = "github.com/reprise-run/reprise/replay/workflow"
	kitPath      = "github.com/reprise-run/reprise/runtime/runtimetest"
)

// stubs are what test code needs of other packages for the verbs in it to be known.
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

// Language is package workflow, as the type checker sees it.
type Language struct {
	t        testing.TB
	files    *token.FileSet
	packages map[string]*types.Package
	verbs    map[types.Object]string // exported functions and methods, by what declares them
	options  map[types.Object]string // fields of exported options and policies, likewise
}

// Load reads the language from its folder.
func Load(t testing.TB, folder string) *Language {
	t.Helper()
	l := &Language{t: t, files: token.NewFileSet(), packages: map[string]*types.Package{},
		verbs: map[types.Object]string{}, options: map[types.Object]string{}}
	c := l.check(workflowPath, l.parsed(folder, func(name, _ string) bool { return !strings.HasSuffix(name, "_test.go") }))
	l.packages[workflowPath] = c.pkg
	for o := range c.declarations() {
		if fn, ok := o.(*types.Func); ok && fn.Exported() && token.IsExported(nameOf(fn)) {
			l.verbs[fn] = nameOf(fn)
		}
	}
	for _, name := range c.pkg.Scope().Names() {
		s, ok := c.pkg.Scope().Lookup(name).Type().Underlying().(*types.Struct)
		if !ok || !token.IsExported(name) || !strings.HasSuffix(name, "Options") && !strings.HasSuffix(name, "Policy") {
			continue
		}
		for f := range s.Fields() {
			if f.Exported() {
				l.options[f] = name + "." + f.Name()
			}
		}
	}
	return l
}

// Verbs lists the exported functions, and methods as Type.Method.
func (l *Language) Verbs() []string { return slices.Sorted(maps.Values(l.verbs)) }

// Options lists the fields of options and policies as Type.Field.
func (l *Language) Options() []string { return slices.Sorted(maps.Values(l.options)) }

// Check compares what is used with what there is. Excuses are reasons why something need not be
// used; one that is not needed, or names nothing, is an error as well.
func (l *Language) Check(what string, names []string, used map[string]bool, excuses map[string]string) {
	l.t.Helper()
	for _, name := range names {
		switch reason, excused := excuses[name]; {
		case used[name] && excused:
			l.t.Errorf("%s is used by %s, but is excused: %s", name, what, reason)
		case !used[name] && !excused:
			l.t.Errorf("%s is not used by %s", name, what)
		}
	}
	for name := range excuses {
		if !slices.Contains(names, name) {
			l.t.Errorf("%s is excused, and there is no such thing", name)
		}
	}
}

// Code is a package with what its names refer to.
type Code struct {
	l     *Language
	files []*ast.File
	pkg   *types.Package
	info  *types.Info
}

// Code type-checks files of a folder. keep gets the name of each file and the name of its package.
func (l *Language) Code(folder string, keep func(file, pkg string) bool) *Code {
	l.t.Helper()
	return l.check(folder, l.parsed(folder, keep))
}

// Used returns what is used directly in the files that from accepts by name.
func (c *Code) Used(from func(file string) bool) map[string]bool {
	used := map[string]bool{}
	for _, file := range c.files {
		if !from(filepath.Base(c.l.files.Position(file.Pos()).Filename)) {
			continue
		}
		for n := range ast.Preorder(file) {
			if id, ok := n.(*ast.Ident); ok {
				c.note(c.info.Uses[id], used)
			}
		}
	}
	return used
}

// Reached returns what is used in the nodes that from accepts, and in the functions and variables
// of the package that these name, and so on.
func (c *Code) Reached(from func(n ast.Node) bool) map[string]bool {
	used, declared, seen := map[string]bool{}, c.declarations(), map[types.Object]bool{}
	var visit func(n ast.Node)
	visit = func(n ast.Node) {
		for n := range ast.Preorder(n) {
			id, ok := n.(*ast.Ident)
			if !ok {
				continue
			}
			o := c.note(c.info.Uses[id], used)
			if decl := declared[o]; decl != nil && !seen[o] {
				seen[o] = true
				visit(decl)
			}
		}
	}
	for _, file := range c.files {
		for n := range ast.Preorder(file) {
			if from(n) {
				visit(n)
			}
		}
	}
	return used
}

// note adds an object to used if it belongs to the language, and returns what was declared, without
// the type arguments that a use has.
func (c *Code) note(o types.Object, used map[string]bool) types.Object {
	switch of := o.(type) {
	case *types.Func:
		o = of.Origin()
	case *types.Var:
		o = of.Origin()
	}
	if name := c.l.verbs[o]; name != "" {
		used[name] = true
	}
	if name := c.l.options[o]; name != "" {
		used[name] = true
	}
	return o
}

// Constants lists the values of the package's constants of a named type, which are strings.
func (c *Code) Constants(typeName string) (values []string) {
	scope := c.pkg.Scope()
	for _, name := range scope.Names() {
		if k, ok := scope.Lookup(name).(*types.Const); ok && k.Type() == scope.Lookup(typeName).Type() {
			values = append(values, constant.StringVal(k.Val()))
		}
	}
	return values
}

// declarations of functions, methods and variables of the package.
func (c *Code) declarations() map[types.Object]ast.Node {
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

// Import implements types.Importer.
func (l *Language) Import(of string) (*types.Package, error) {
	if p := l.packages[of]; p != nil {
		return p, nil
	}
	p := l.check(of, []*ast.File{l.parse(of, "package "+path.Base(of)+"; "+stubs[of])}).pkg
	l.packages[of] = p
	return p, nil
}

func (l *Language) check(importPath string, files []*ast.File) *Code {
	c := &Code{l: l, files: files, info: &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}}
	config := &types.Config{Importer: l, Error: func(error) {}} // errors are about what is not known
	c.pkg, _ = config.Check(importPath, l.files, files, c.info)
	c.pkg.MarkComplete()
	return c
}

func (l *Language) parsed(folder string, keep func(file, pkg string) bool) (list []*ast.File) {
	l.t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		l.t.Fatal(err)
	}
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			l.t.Fatal(err)
		}
		if file := l.parse(name, src); keep(filepath.Base(name), file.Name.Name) {
			list = append(list, file)
		}
	}
	return list
}

func (l *Language) parse(name string, src any) *ast.File {
	l.t.Helper()
	file, err := parser.ParseFile(l.files, name, src, parser.SkipObjectResolution)
	if err != nil {
		l.t.Fatal(err)
	}
	return file
}

// nameOf is a function's name, or a method's as Type.Method.
func nameOf(fn *types.Func) string {
	recv := fn.Signature().Recv()
	if recv == nil {
		return fn.Name()
	}
	of := recv.Type()
	if p, ok := of.(*types.Pointer); ok {
		of = p.Elem()
	}
	return of.(*types.Named).Obj().Name() + "." + fn.Name()
}

// CallOf accepts the calls of a function of another package, by its name.
func CallOf(name string) func(n ast.Node) bool {
	return func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return false
		}
		s, ok := call.Fun.(*ast.SelectorExpr)
		return ok && s.Sel.Name == name
	}
}
