package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// opposite is what each operator becomes. A comparison that is an order moves its boundary by one;
// a condition that consists of it is negated as well.
var opposite = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD,
}

// goFile collects the mutants of one file's functions.
type goFile struct {
	name    string
	source  []byte
	files   *token.FileSet
	mutants []mutant
}

func goMutants(name string, source []byte) ([]mutant, error) {
	g := &goFile{name: name, source: source, files: token.NewFileSet()}
	syntax, err := parser.ParseFile(g.files, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, decl := range syntax.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
			g.function(f.Type, f.Body)
		}
	}
	return g.mutants, nil
}

// function adds the mutants of a body. A function inside it has results of its own.
func (g *goFile) function(signature *ast.FuncType, body *ast.BlockStmt) {
	g.leave(signature, body)
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			g.function(n.Type, n.Body)
			return false
		case *ast.ReturnStmt:
			g.answer(signature, n)
		case *ast.IfStmt:
			g.negate(n.Cond)
		case *ast.ForStmt:
			g.negate(n.Cond)
		case *ast.SwitchStmt:
			g.cases(n)
		case *ast.BinaryExpr:
			g.exchange(n)
		case *ast.BlockStmt:
			g.statements(n.List)
		case *ast.CaseClause:
			g.statements(n.Body)
		case *ast.CommClause:
			g.statements(n.Body)
		}
		return true
	})
}

// leave makes a function return at once, with the zero value of each result. The condition keeps
// the compiler content with what follows.
func (g *goFile) leave(signature *ast.FuncType, body *ast.BlockStmt) {
	if len(body.List) == 0 {
		return
	}
	var zeros []string
	if signature.Results != nil {
		for _, field := range signature.Results.List {
			for range max(1, len(field.Names)) {
				zeros = append(zeros, "*new("+g.text(field.Type)+")")
			}
		}
	}
	if ret, ok := body.List[0].(*ast.ReturnStmt); ok && len(zeros) == 1 && isZero(ret) {
		return
	}
	at := g.at(body.Lbrace) + 1
	g.add("leave at once", body.List[0].Pos(), at, at, "", " if true { return "+strings.Join(zeros, ", ")+" }; ")
}

// isZero tells whether a statement returns nothing but a zero value.
func isZero(ret *ast.ReturnStmt) bool {
	if len(ret.Results) != 1 {
		return false
	}
	switch e := ret.Results[0].(type) {
	case *ast.Ident:
		return e.Name == "nil" || e.Name == "false"
	case *ast.BasicLit:
		return e.Value == "0" || e.Value == `""`
	}
	return false
}

// answer changes what is returned: a truth becomes its opposite, an error is forgotten.
func (g *goFile) answer(signature *ast.FuncType, ret *ast.ReturnStmt) {
	if signature.Results == nil || len(ret.Results) == 0 || len(ret.Results) != signature.Results.NumFields() {
		return
	}
	var kinds []string
	for _, field := range signature.Results.List {
		for range max(1, len(field.Names)) {
			kinds = append(kinds, g.text(field.Type))
		}
	}
	for i, e := range ret.Results {
		name, _ := e.(*ast.Ident)
		switch {
		case kinds[i] == "bool":
			g.replace("opposite answer", e, "!("+g.text(e)+")")
		case kinds[i] == "error" && (name == nil || name.Name != "nil"):
			g.replace("error forgotten", e, "nil")
		}
	}
}

// negate turns a condition round. Those that are one comparison of equality are turned round by
// exchange.
func (g *goFile) negate(condition ast.Expr) {
	if condition == nil {
		return
	}
	if b, ok := condition.(*ast.BinaryExpr); ok && (b.Op == token.EQL || b.Op == token.NEQ) {
		return
	}
	g.replace("negate", condition, "!("+g.text(condition)+")")
}

// cases turns the conditions of a switch without a value round.
func (g *goFile) cases(s *ast.SwitchStmt) {
	if s.Tag != nil {
		return
	}
	for _, clause := range s.Body.List {
		for _, e := range clause.(*ast.CaseClause).List {
			g.negate(e)
		}
	}
}

func (g *goFile) exchange(b *ast.BinaryExpr) {
	to, ok := opposite[b.Op]
	if !ok || b.Op == token.ADD && (isText(b.X) || isText(b.Y)) {
		return
	}
	g.replace("exchange "+b.Op.String(), b, g.text(b.X)+" "+to.String()+" "+g.text(b.Y))
}

// isText tells whether an operand is a text at first sight: a text has no difference.
func isText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return isText(e.X) || isText(e.Y)
	}
	return false
}

// statements leaves statements out, one at a time. They stay where the compiler sees what they use.
// A declaration cannot be left out: what follows needs its names.
func (g *goFile) statements(list []ast.Stmt) {
	for _, s := range list {
		operator := "leave out"
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE || isBlank(s) {
				continue
			}
		case *ast.BranchStmt:
			if s.Tok != token.CONTINUE && s.Tok != token.BREAK {
				continue
			}
			operator += " " + s.Tok.String()
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt:
		default:
			continue
		}
		g.replace(operator, s, "if false { "+g.text(s)+" }")
	}
}

// isBlank tells whether an assignment only says that a value is not used.
func isBlank(s *ast.AssignStmt) bool {
	for _, e := range s.Lhs {
		if name, ok := e.(*ast.Ident); !ok || name.Name != "_" {
			return false
		}
	}
	_, call := s.Rhs[0].(*ast.CallExpr)
	return !call
}

func (g *goFile) at(p token.Pos) int { return g.files.Position(p).Offset }

func (g *goFile) text(n ast.Node) string { return string(g.source[g.at(n.Pos()):g.at(n.End())]) }

func (g *goFile) replace(operator string, n ast.Node, text string) {
	g.add(operator, n.Pos(), g.at(n.Pos()), g.at(n.End()), g.text(n), text)
}

func (g *goFile) add(operator string, pos token.Pos, start, end int, old, text string) {
	g.mutants = append(g.mutants, mutant{file: g.name, line: g.files.Position(pos).Line, operator: operator, start: start, end: end, old: old, text: text})
}
