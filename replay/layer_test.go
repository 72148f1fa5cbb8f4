package replay_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// forbidden are packages that would let the world into the machine.
var forbidden = []string{"os", "log", "log/slog", "net", "net/http", "sync", "io", "crypto/rand", "math/rand", "testing"}

// allowed are the only non-standard imports.
var allowed = []string{
	"github.com/reprise-run/reprise/journal", "github.com/reprise-run/reprise/replay",
	"github.com/reprise-run/reprise/replay/internal/coro", "github.com/google/uuid",
	"github.com/reprise-run/reprise/internal/list", "github.com/reprise-run/reprise/internal/callsite",
	"github.com/reprise-run/reprise/internal/goroutine", "github.com/reprise-run/reprise/internal/intercept",
	"github.com/reprise-run/reprise/replay/workflow", // for flow, which stands on it
}

// draws are the functions that read a clock or a shared random source.
var draws = map[string][]string{
	"time": {"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTimer", "NewTicker"},
	"rand": {"Int", "IntN", "Int64", "Int64N", "Uint64", "Float64", "N", "Perm", "Shuffle", "Uint32"},
	"uuid": {"New", "NewString", "NewRandom", "NewV7", "Must"},
}

// TestPure: the machine and the verbs read no clock, draw no random number, log nothing and start
// no goroutine.
func TestPure(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasSuffix(path, "test") {
			return filepath.SkipDir // a kit for tests
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		checkPure(t, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkPure(t *testing.T, path string) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range file.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		if slices.Contains(forbidden, name) {
			t.Errorf("%s imports %s", path, name)
		}
		if first, _, _ := strings.Cut(name, "/"); strings.Contains(first, ".") && !slices.Contains(allowed, name) {
			t.Errorf("%s imports %s: replay is built on journal alone", path, name)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			t.Errorf("%s starts a goroutine", fset.Position(n.Pos()))
		case *ast.SelectorExpr:
			if pkg, ok := n.X.(*ast.Ident); ok && pkg.Obj == nil && slices.Contains(draws[pkg.Name], n.Sel.Name) {
				t.Errorf("%s calls %s.%s", fset.Position(n.Pos()), pkg.Name, n.Sel.Name)
			}
		}
		return true
	})
}
