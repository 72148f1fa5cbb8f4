package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// unit is a package of this module with its types. Tests are not part of it.
type unit struct {
	path   string // relative to the module, "." for its root
	folder string
	name   string
	syntax []*ast.File
	types  *types.Package
	info   *types.Info
	own    []string // the packages of this module that it imports, relative as well
}

// module is what one build of this module consists of: what build tags leave out is not in it.
type module struct {
	name  string
	root  string
	files *token.FileSet
	units []*unit // dependencies first
}

// listed is what `go list -json` says of a package.
type listed struct {
	ImportPath, Dir, Name, Export string
	GoFiles, Imports              []string
	Module                        *struct{ Path, Dir string }
	Error                         *struct{ Err string }
}

// load type-checks the packages of the module that folder is in. The module's own packages come
// from source, so that positions and comments are known; all others from the compiler's export
// data, which `go list` builds and the build cache keeps.
func load(folder string) (*module, error) {
	packages, err := list(folder)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, p := range packages {
		exports[p.ImportPath] = p.Export
	}
	m := &module{files: token.NewFileSet()}
	checked := map[string]*types.Package{}
	compiled := importer.ForCompiler(m.files, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exports[path])
	})
	imports := importFunc(func(path string) (*types.Package, error) {
		if p := checked[path]; p != nil {
			return p, nil
		}
		return compiled.Import(path)
	})
	for _, p := range packages { // go list -deps prints what is imported before what imports it
		if p.Module == nil || p.Module.Dir != folder {
			continue
		}
		m.name, m.root = p.Module.Path, p.Module.Dir
		u, err := m.check(p, imports)
		if err != nil {
			return nil, err
		}
		checked[p.ImportPath] = u.types
		m.units = append(m.units, u)
	}
	if len(m.units) == 0 {
		return nil, fmt.Errorf("%s is not the root of a module", folder)
	}
	return m, nil
}

func list(folder string) ([]listed, error) {
	var stderr bytes.Buffer
	cmd := exec.Command("go", "list", "-deps", "-export", "-json=ImportPath,Dir,Name,Export,GoFiles,Imports,Module,Error", "./...")
	cmd.Dir, cmd.Stderr = folder, &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}
	var packages []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if p.Error != nil {
			return nil, fmt.Errorf("go list: %s", p.Error.Err)
		}
		packages = append(packages, p)
	}
}

func (m *module) check(p listed, imports types.Importer) (*unit, error) {
	u := &unit{path: m.relative(p.ImportPath), folder: p.Dir, name: p.Name}
	for _, name := range p.GoFiles {
		syntax, err := parser.ParseFile(m.files, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		u.syntax = append(u.syntax, syntax)
	}
	u.info = &types.Info{
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		Types: map[ast.Expr]types.TypeAndValue{},
	}
	var err error
	config := types.Config{Importer: imports}
	if u.types, err = config.Check(p.ImportPath, m.files, u.syntax, u.info); err != nil {
		return nil, fmt.Errorf("check %s: %w", p.ImportPath, err)
	}
	for _, imported := range p.Imports {
		if imported == m.name || strings.HasPrefix(imported, m.name+"/") {
			u.own = append(u.own, m.relative(imported))
		}
	}
	return u, nil
}

// relative turns an import path of this module into a folder of it.
func (m *module) relative(imported string) string {
	if imported == m.name {
		return "."
	}
	return strings.TrimPrefix(imported, m.name+"/")
}

// file returns the name of the file that holds pos, relative to the module.
func (m *module) file(pos token.Pos) string {
	name, err := filepath.Rel(m.root, m.files.File(pos).Name())
	if err != nil {
		return m.files.File(pos).Name()
	}
	return filepath.ToSlash(name)
}

type importFunc func(path string) (*types.Package, error)

func (f importFunc) Import(path string) (*types.Package, error) { return f(path) }
