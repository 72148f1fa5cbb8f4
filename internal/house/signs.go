package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// sign is something by which the library tells its operator what happens: the message of a log
// line, the name of a metric, or an error that callers can tell from others.
type sign struct {
	kind string // "log line", "metric" or "error"
	text string // what the operator sees
	name string // of an error; else empty
	at   string
}

// slogArg has the functions and methods of log/slog that make a line, with the place of the
// message among their arguments.
var slogArg = map[string]int{
	"Debug": 0, "Info": 0, "Warn": 0, "Error": 0,
	"DebugContext": 1, "InfoContext": 1, "WarnContext": 1, "ErrorContext": 1, "Log": 2, "LogAttrs": 2,
}

const (
	slogPath   = "log/slog"
	metricPath = "go.opentelemetry.io/otel/metric"
)

// passedOn are the files that log what somebody else says: the words are not the library's.
var passedOn = []string{"runtime/telemetry.go"}

// signFinder collects the signs of a module.
//
// A message is a constant, where the line is made or where it is put into a field that the line is
// made from: else nobody could look it up. So the finder looks at all packages twice, first for
// lines and the fields that they are made from, then for what is put into these fields.
type signFinder struct {
	m      *module
	fields map[types.Object]bool // hold messages
	signs  []sign
	broken []string
}

// findSigns returns the signs of the library, and the messages that it cannot read.
func (m *module) findSigns() ([]sign, []string) {
	f := &signFinder{m: m, fields: map[types.Object]bool{}}
	for _, u := range m.units {
		if u.inProduction() {
			f.each(u, f.line)
			f.errors(u)
		}
	}
	for _, u := range m.units {
		if u.inProduction() {
			f.each(u, f.field)
		}
	}
	slices.SortStableFunc(f.signs, func(a, b sign) int { return strings.Compare(a.at, b.at) })
	return f.signs, f.broken
}

// inProduction tells whether a package runs in production programs of users.
func (u *unit) inProduction() bool {
	return u.name != "main" && top(u.path) != "examples" && !inHelper(u.path)
}

func (f *signFinder) each(u *unit, look func(*unit, ast.Node)) {
	for _, file := range u.syntax {
		ast.Inspect(file, func(n ast.Node) bool {
			look(u, n)
			return true
		})
	}
}

// line notes a call that logs or makes an instrument.
func (f *signFinder) line(u *unit, n ast.Node) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	fn, ok := u.info.Uses[sel.Sel].(*types.Func)
	if !ok || fn.Pkg() == nil {
		return
	}
	switch i, logs := slogArg[fn.Name()]; {
	case fn.Pkg().Path() == slogPath && logs && i < len(call.Args):
		f.message(u, call.Args[i])
	case fn.Pkg().Path() == metricPath && isInstrument(fn) && len(call.Args) > 0:
		f.add(u, "metric", call.Args[0])
	}
}

// isInstrument tells whether a method of a Meter makes an instrument.
func isInstrument(fn *types.Func) bool {
	return strings.HasPrefix(fn.Name(), "Int64") || strings.HasPrefix(fn.Name(), "Float64")
}

// message notes the message of a line, or the field that it comes from.
func (f *signFinder) message(u *unit, e ast.Expr) {
	if sel, ok := e.(*ast.SelectorExpr); ok {
		if v, ok := u.info.Uses[sel.Sel].(*types.Var); ok && v.IsField() {
			f.fields[v] = true
			return
		}
	}
	if !slices.Contains(passedOn, f.m.file(e.Pos())) || u.info.Types[e].Value != nil {
		f.add(u, "log line", e)
	}
}

// field notes what is put into a field that messages come from.
func (f *signFinder) field(u *unit, n ast.Node) {
	put := func(to *ast.Ident, value ast.Expr) {
		if to != nil && f.fields[u.info.Uses[to]] {
			f.add(u, "log line", value)
		}
	}
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		key, _ := n.Key.(*ast.Ident)
		put(key, n.Value)
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			if sel, ok := to.(*ast.SelectorExpr); ok && len(n.Lhs) == len(n.Rhs) {
				put(sel.Sel, n.Rhs[i])
			}
		}
	}
}

// add notes a sign with a constant text.
func (f *signFinder) add(u *unit, kind string, e ast.Expr) {
	at := f.position(e.Pos())
	v := u.info.Types[e].Value
	if v == nil || v.Kind() != constant.String {
		f.broken = append(f.broken, fmt.Sprintf("%s: the text of a %s is no constant, so nobody can look it up", at, kind))
		return
	}
	f.signs = append(f.signs, sign{kind: kind, text: constant.StringVal(v), at: at})
}

func (f *signFinder) position(p token.Pos) string {
	return fmt.Sprintf("%s:%d", f.m.file(p), f.m.files.Position(p).Line)
}

// errors notes the errors that a package exports: values, which show their text, and types, which
// show more than a constant and so are looked up by their names. What workflow code handles is not
// an operator's.
func (f *signFinder) errors(u *unit) {
	if !u.public() || u.path == "replay/workflow" {
		return
	}
	for _, o := range exported(u.types.Scope()) {
		if f.authors(u, o.Name()) {
			continue
		}
		if _, isType := o.(*types.TypeName); isType && strings.HasSuffix(o.Name(), "Error") {
			f.signs = append(f.signs, sign{kind: "error", text: o.Name(), name: o.Name(), at: f.position(o.Pos())})
		}
	}
	f.each(u, func(u *unit, n ast.Node) {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != len(spec.Names) {
			return
		}
		for i, id := range spec.Names {
			call, isCall := spec.Values[i].(*ast.CallExpr)
			o := u.info.Defs[id]
			if !isCall || len(call.Args) != 1 || !id.IsExported() || o.Parent() != u.types.Scope() ||
				!strings.HasPrefix(id.Name, "Err") || f.authors(u, id.Name) {
				continue
			}
			before := len(f.signs)
			f.add(u, "error", call.Args[0])
			for ; before < len(f.signs); before++ {
				f.signs[before].name = id.Name
			}
		}
	})
}

// authors tells whether package replay/workflow gives an error of package replay to authors.
func (f *signFinder) authors(u *unit, name string) bool {
	if u.path != "replay" {
		return false
	}
	for _, w := range f.m.units {
		if w.path == "replay/workflow" {
			return w.types.Scope().Lookup(name) != nil
		}
	}
	return false
}
