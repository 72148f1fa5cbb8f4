package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// ignoredFolders hold no source: /bin is what .gitignore lets people build into.
var ignoredFolders = []string{"bin"}

// homes says where a module may be imported. Below a home is at home too.
var homes = []struct {
	rule, module string
	only         []string
	tests        bool // test files may import it anywhere
}{
	{"pgx only in journal/postgres", "github.com/jackc/pgx", []string{"journal/postgres", "examples", "bench"}, true},
	{"SQLite driver only in journal/sqlite", "modernc.org/sqlite", []string{"journal/sqlite", "examples"}, true},
	{"protoactor only in actor", "github.com/asynkron/protoactor-go", []string{"actor"}, false},
	{"OpenTelemetry only in runtime and cmd", "go.opentelemetry.io", []string{"runtime", "cmd"}, false},
	{"cobra only in cmd", "github.com/spf13/cobra", []string{"cmd"}, false},
	{"YAML only in cmd", "go.yaml.in/yaml", []string{"cmd"}, false},
	{"browsers only in tests of ui", "github.com/chromedp", []string{"ui/uitest"}, true},
	{"backoff only in runtime", "github.com/cenkalti/backoff", []string{"runtime"}, false},
}

// impure are the packages that replay may not import: they block, read a clock, draw random numbers
// or log.
var impure = []string{
	"os", "log", "net", "syscall", "io/ioutil", "math/rand", "crypto/rand", "database/sql", "runtime/trace",
}

// unsure are the functions of allowed packages that replay may not use.
var unsure = map[string][]string{
	"time":                   {"Now", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Since", "Until"},
	"context":                {"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause"},
	"github.com/google/uuid": {"New", "NewString", "NewRandom", "NewUUID", "NewV6", "NewV7", "NewDCEGroup", "NewDCEPerson", "NewDCESecurity"},
	// The global generator is seeded by chance; New with a seeded source is fine.
	"math/rand/v2": {
		"Int", "IntN", "Int32", "Int32N", "Int64", "Int64N", "Uint", "UintN", "Uint32", "Uint32N", "Uint64", "Uint64N",
		"Float32", "Float64", "N", "NormFloat64", "ExpFloat64", "Perm", "Shuffle",
	},
}

// sharpEdges are protoactor's calls that race, panic or spin.
var sharpEdges = []string{
	"SetReceiveTimeout", "NewLocalPID", "NewPID", "Bounded", "BoundedDropping", "Stash", "RequestFuture",
}

// checkLayers returns the broken rules of the module at the root of tree, and how many files it
// read.
func checkLayers(tree fs.FS) (broken []string, files int, err error) {
	methods := methodCounts{}
	module, err := moduleOf(tree)
	if err != nil {
		return nil, 0, err
	}
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return enterFolder(tree, name, &broken)
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		files++
		s, err := checkFile(tree, module, name)
		if err == nil {
			broken = append(broken, s.broken...)
			methods.add(s)
		}
		return err
	})
	return append(broken, methods.broken()...), files, err
}

// enterFolder decides whether the walk goes into a folder.
func enterFolder(tree fs.FS, name string, broken *[]string) error {
	if name == "." {
		return nil
	}
	if base := path.Base(name); base[0] == '.' || base[0] == '_' || base == "testdata" {
		return fs.SkipDir
	}
	if !strings.Contains(name, "/") {
		if slices.Contains(ignoredFolders, name) {
			return fs.SkipDir
		}
		if _, ok := topFolders[name]; !ok && !slices.Contains(noCode, name) {
			*broken = append(*broken, name+": top-level folders: not on the map")
			return fs.SkipDir
		}
	}
	if _, err := fs.Stat(tree, path.Join(name, "go.mod")); err == nil {
		return fs.SkipDir // a module of its own
	}
	return nil
}

func moduleOf(tree fs.FS) (string, error) {
	text, err := fs.ReadFile(tree, "go.mod")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(name), nil
		}
	}
	return "", fmt.Errorf("go.mod names no module")
}

func checkFile(tree fs.FS, module, name string) (*source, error) {
	files := token.NewFileSet()
	if slices.Contains(noCode, top(name)) {
		return &source{broken: []string{name + ":1: top-level folders: " + top(name) + " holds no Go"}}, nil
	}
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	syntax, err := parseFile(tree, files, name)
	if err != nil {
		return nil, err
	}
	s := &source{name: name, folder: path.Dir(name), module: module, syntax: syntax, files: files, methods: map[string]int{}}
	s.isTest = strings.HasSuffix(name, "_test.go")
	s.isHelper = inHelper(s.folder)
	for _, spec := range syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: import %s: %w", name, spec.Path.Value, err)
		}
		if own, ok := strings.CutPrefix(imported, module+"/"); ok {
			s.checkArrow(spec, own)
		} else {
			s.checkLibrary(spec, imported)
		}
	}
	s.checkReplay()
	s.checkActor()
	s.checkSize(string(text))
	return s, nil
}

// checkArrow checks an import of a package of this module.
func (s *source) checkArrow(spec *ast.ImportSpec, to string) {
	fromTop, toTop := top(s.folder), top(to)
	testing := s.isTest || s.isHelper
	switch helper := inHelper(to); {
	case helper && fromTop == "cmd" && to == "replay/replaytest": // the command writes what tests replay
	case helper && !testing:
		s.breaks("test helpers only in tests", spec.Pos(), "imports %s", to)
		return
	case helper && s.isTest:
		return // the tests of a low folder may stand on a kit that is built higher
	}
	if testing {
		if fromTop != toTop && topFolders[toTop] >= topFolders[fromTop] {
			s.breaks("imports go down only", spec.Pos(), "tests of %s import %s, which is higher", fromTop, to)
		}
		return
	}
	if f := floorOf(s.folder); !f.allows(to) {
		s.breaks("imports go down only", spec.Pos(), "%s may not import %s: %s", s.folder, to, f.reason(s.folder, to))
	}
}

// checkLibrary checks an import from outside of this module.
func (s *source) checkLibrary(spec *ast.ImportSpec, imported string) {
	for _, h := range homes {
		home := slices.ContainsFunc(h.only, func(folder string) bool { return under(s.folder, folder) })
		if under(imported, h.module) && !home && !(h.tests && (s.isTest || s.isHelper)) {
			s.breaks(h.rule, spec.Pos(), "imports %s", imported)
		}
	}
	const proto = "github.com/asynkron/protoactor-go"
	if under(imported, proto) && imported != proto+"/actor" {
		s.breaks("only the actor package of protoactor", spec.Pos(), "imports %s", imported)
	}
	if s.isTest || s.isHelper {
		return
	}
	if under(imported, "testing") {
		s.breaks("production code never imports testing", spec.Pos(), "imports %s", imported)
	}
	pure := imported == "math/rand/v2" || !slices.ContainsFunc(impure, func(p string) bool { return under(imported, p) })
	if top(s.folder) == "replay" && !pure {
		s.breaks("replay is pure", spec.Pos(), "imports %s", imported)
	}
}

// checkReplay looks for calls that make a machine more than a function of its events.
func (s *source) checkReplay() {
	if top(s.folder) != "replay" || s.isTest || s.isHelper {
		return
	}
	packages := s.packageNames()
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			s.breaks("replay is pure", n.Pos(), "starts a goroutine")
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok {
				break
			}
			imported := packages[x.Name]
			if slices.Contains(unsure[imported], n.Sel.Name) || imported == s.module+"/journal" && n.Sel.Name == "NewRunID" {
				s.breaks("replay is pure", n.Pos(), "uses %s.%s", x.Name, n.Sel.Name)
			}
		}
		return true
	})
}

// checkActor looks for protoactor's sharp edges.
func (s *source) checkActor() {
	if top(s.folder) != "actor" || s.isTest {
		return
	}
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains(sharpEdges, sel.Sel.Name) {
			s.breaks("protoactor's sharp edges", sel.Pos(), "uses %s", sel.Sel.Name)
		}
		return true
	})
}

// packageNames maps the names that this file gives to packages to their paths. Without type
// information an unnamed import is taken to have the last part of its path, less a version.
func (s *source) packageNames() map[string]string {
	names := map[string]string{}
	for _, spec := range s.syntax.Imports {
		imported := strings.Trim(spec.Path.Value, "`\"")
		name := path.Base(imported)
		if len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
			name = path.Base(path.Dir(imported))
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = imported
	}
	return names
}
