// Package sqltest reads the SQL statements of a driver out of its source, for the tests that
// prepare, plan and explain every one of them.
//
// A statement is a package-level constant whose name ends with SQL. The compiler is what makes it
// static: a constant is a literal or an expression of other constants, such as a list of columns
// that several statements select, so neither user data nor a condition can get into it. Anything
// else that is named like a statement is an error.
package sqltest

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

// suffix ends the names of statements, and of nothing else in a driver.
const suffix = "SQL"

// Statements returns the texts of all statements of the package in a folder, by name. It fails the
// test if something that is named like a statement is none. Files of tests are not read, so their
// own statements may be built.
func Statements(t testing.TB, dir string) map[string]string {
	t.Helper()
	found, err := read(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Constants returns the texts of all constants of a type that the package in a folder declares,
// also of those without a name, for a driver that puts a statement together from such texts.
// Constants inside of functions are not among them.
func Constants(t testing.TB, dir, typeName string) (texts []string) {
	t.Helper()
	files := token.NewFileSet()
	syntax, err := parse(os.DirFS(dir), files)
	if err != nil {
		t.Fatal(err)
	}
	for _, tv := range check(files, syntax).Types {
		named, ok := tv.Type.(*types.Named)
		if ok && named.Obj().Name() == typeName && tv.Value != nil && tv.Value.Kind() == constant.String {
			texts = append(texts, constant.StringVal(tv.Value))
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// Conversions returns the places at which the package in a folder converts something to a type.
// Where there is none, only constants have the type.
func Conversions(t testing.TB, dir, typeName string) (places []string) {
	t.Helper()
	files := token.NewFileSet()
	syntax, err := parse(os.DirFS(dir), files)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range syntax {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if name, ok := ast.Unparen(call.Fun).(*ast.Ident); ok && name.Name == typeName {
					places = append(places, files.Position(call.Pos()).String())
				}
			}
			return true
		})
	}
	return places
}

// read evaluates the statements of the package at the root of a tree. It uses the type checker, as
// the compiler would, and not the syntax: so a statement may be put together from constants in any
// way that stays constant, and nothing else gets through.
func read(tree fs.FS) (map[string]string, error) {
	files := token.NewFileSet()
	syntax, err := parse(tree, files)
	if err != nil {
		return nil, err
	}
	info := check(files, syntax)
	found := map[string]string{}
	for _, file := range syntax {
		for _, name := range statementNames(file) {
			c, ok := info.Defs[name].(*types.Const)
			if !ok || c.Val().Kind() != constant.String {
				return nil, fmt.Errorf("%s: %s is not a string constant of the package: statements are static text",
					files.Position(name.Pos()), name.Name)
			}
			found[name.Name] = constant.StringVal(c.Val())
		}
	}
	return found, nil
}

// check finds out what the names of a package mean. Statements need few imports, so the package is
// checked without them: what the imports leave unresolved is reported to Error and ignored, and the
// constants have their values all the same.
func check(files *token.FileSet, syntax []*ast.File) *types.Info {
	checker := types.Config{Error: func(error) {}, IgnoreFuncBodies: true}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
	_, _ = checker.Check("driver", files, syntax, info)
	return info
}

// parse reads the files of the package that are no tests. A file behind a build tag is read too.
func parse(tree fs.FS, files *token.FileSet) (syntax []*ast.File, err error) {
	names, err := fs.Glob(tree, "*.go")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		syntax = append(syntax, file)
	}
	return syntax, nil
}

// statementNames lists what is declared under the name of a statement: constants and variables,
// also those inside of functions, which have no value for read and are refused by it. A local text
// that is named like a statement would escape the tests that plan every one.
func statementNames(file *ast.File) (names []*ast.Ident) {
	add := func(n ast.Node) {
		if name, ok := n.(*ast.Ident); ok && strings.HasSuffix(name.Name, suffix) {
			names = append(names, name)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for _, name := range n.Names {
				add(name)
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, left := range n.Lhs {
					add(left)
				}
			}
		}
		return true
	})
	return names
}
