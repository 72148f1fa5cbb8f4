package sim

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
	languagePath   = "github.com/reprise-run/reprise/replay/workflow"
	languageFolder = "../../replay/workflow"
)

// unsaid are what no program can say.
var unsaid = map[string]string{
	"Define":                   "a program is given to runtime.Handle, which calls it",
	"SagaError.Error":          "whoever writes an error calls it",
	"SagaError.Unwrap":         "errors.Is calls it",
	"SagaError.JournalFailure": "the engine calls it",
}

// TestLanguage: programs say all that authors of workflows can: each exported function and method of the language is used by
// the code that executes programs.
func TestLanguage(t *testing.T) {
	language, _ := checkTypes(t, languageFolder, languagePath, false, nil)
	_, used := checkTypes(t, ".", "sim", true, language)
	said := map[string]bool{}
	for id, obj := range used.Uses {
		if fn, ok := obj.(*types.Func); ok && fn.Pkg() == language && used.executes(id) {
			said[nameOf(fn)] = true
		}
	}
	for _, name := range sayable(language) {
		switch reason, excused := unsaid[name]; {
		case said[name] && excused:
			t.Errorf("programs use %s, which is excused: %s", name, reason)
		case !said[name] && !excused:
			t.Errorf("no program uses %s", name)
		}
	}
	for name := range unsaid {
		if !slices.Contains(sayable(language), name) {
			t.Errorf("%s is excused, and there is no such thing", name)
		}
	}
}

// plansLooked is among how many plans each verb must be.
const plansLooked = 500

// TestVerbs: each verb is drawn.
func TestVerbs(t *testing.T) {
	drawn := map[string]bool{}
	var visit func([]instr)
	visit = func(body []instr) {
		for i := range body {
			drawn[string(body[i].Do)] = true
			visit(body[i].Body)
		}
	}
	for seed := range uint64(plansLooked) {
		for _, r := range generate(seed + 1).Runs {
			visit(r.Program)
		}
	}
	sim, _ := checkTypes(t, ".", "sim", true, nil)
	verbs := 0
	for _, name := range sim.Scope().Names() {
		c, ok := sim.Scope().Lookup(name).(*types.Const)
		if !ok || c.Type() != sim.Scope().Lookup("verb").Type() {
			continue
		}
		if verbs++; !drawn[constant.StringVal(c.Val())] {
			t.Errorf("%s is never drawn", name)
		}
	}
	if verbs < len(weights) {
		t.Errorf("%d verbs are found, %d are drawn", verbs, len(weights))
	}
}

// executes tells whether a name is used in the code that executes programs, and not in what checks them.
func (c *checked) executes(id *ast.Ident) bool {
	name := filepath.Base(c.files.Position(id.Pos()).Filename)
	return !strings.HasPrefix(name, "check_") && !strings.HasPrefix(name, "model_") && !strings.HasPrefix(name, "mutation_")
}

// checked is what is known of a package.
type checked struct {
	types.Info
	files *token.FileSet
}

// checkTypes resolves the names in a folder's package. Of what it imports only one package is known, or none, and what depends on
// the others stays open: that is enough, and takes milliseconds.
func checkTypes(t *testing.T, folder, importPath string, tests bool, known *types.Package) (*types.Package, *checked) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	c := &checked{types.Info{Uses: map[*ast.Ident]types.Object{}}, token.NewFileSet()}
	var files []*ast.File
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_race_test.go") || strings.HasSuffix(e.Name(), "_test.go") != tests {
			continue
		}
		file, err := parser.ParseFile(c.files, filepath.Join(folder, e.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	conf := types.Config{Importer: shortSighted{known}, Error: func(error) {}}
	pkg, _ := conf.Check(importPath, c.files, files, &c.Info) // the errors are of what is not known
	return pkg, c
}

// shortSighted knows one package.
type shortSighted struct{ known *types.Package }

// Import implements types.Importer.
func (s shortSighted) Import(importPath string) (*types.Package, error) {
	if s.known != nil && importPath == s.known.Path() {
		return s.known, nil
	}
	pkg := types.NewPackage(importPath, path.Base(importPath))
	pkg.MarkComplete()
	return pkg, nil
}

// sayable lists the exported functions of a package, and methods as Type.Method.
func sayable(pkg *types.Package) []string {
	names := map[string]bool{}
	for _, name := range pkg.Scope().Names() {
		switch obj := pkg.Scope().Lookup(name).(type) {
		case *types.Func:
			if obj.Exported() {
				names[name] = true
			}
		case *types.TypeName:
			named, ok := obj.Type().(*types.Named)
			if !ok || !obj.Exported() {
				continue
			}
			for m := range named.Methods() {
				if m.Exported() {
					names[nameOf(m)] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// nameOf is a function's name, or a method's as Type.Method.
func nameOf(fn *types.Func) string {
	recv := fn.Origin().Signature().Recv()
	if recv == nil {
		return fn.Name()
	}
	of := recv.Type()
	if p, ok := of.(*types.Pointer); ok {
		of = p.Elem()
	}
	if named, ok := of.(*types.Named); ok {
		return named.Obj().Name() + "." + fn.Name()
	}
	return fn.Name()
}
