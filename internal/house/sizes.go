package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// Limits of what one reader can hold. They are what is true, so that nothing grows unseen; whoever
// meets one looks for the second noun in the file, the second step in the function, the second type
// in the type.
const (
	fileLinesMax      = 400
	functionLinesMax  = 70
	fieldsMax         = 30
	methodsMax        = 40
	commentColumnsMax = 100
)

// bigger are the types that may be bigger, each up to a size that only goes down, and why.
var bigger = map[string]struct {
	size int
	why  string
}{
	"journal/postgres.statements": {29, "a field for each statement: it is a table, and no code reaches more than one"},
}

// atMost returns the limit of a type.
func atMost(name string, limit int) int { return max(limit, bigger[name].size) }

// checkSize measures one file. Tests are as long as what they show.
func (s *source) checkSize(text string) {
	if s.isTest {
		return
	}
	if lines := s.files.File(s.syntax.FileStart).LineCount(); lines > fileLinesMax {
		s.breaks("file length", s.syntax.Package, "%d lines, at most %d", lines, fileLinesMax)
	}
	for _, decl := range s.syntax.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if lines := lineSpan(s.files, decl); lines > functionLinesMax {
				s.breaks("function length", decl.Pos(), "%s has %d lines, at most %d", decl.Name.Name, lines, functionLinesMax)
			}
			if decl.Recv != nil {
				s.methods[receiverType(decl.Recv.List[0].Type)]++
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				s.checkFields(spec)
			}
		}
	}
	s.checkComments(text)
}

func (s *source) checkFields(spec ast.Spec) {
	t, ok := spec.(*ast.TypeSpec)
	if !ok {
		return
	}
	if t, ok := t.Type.(*ast.StructType); ok {
		fields := 0
		for _, f := range t.Fields.List {
			fields += max(1, len(f.Names))
		}
		name := spec.(*ast.TypeSpec).Name.Name
		if limit := atMost(s.folder+"."+name, fieldsMax); fields > limit {
			s.breaks("fields of a type", t.Pos(), "%s has %d fields, at most %d", name, fields, limit)
		}
	}
}

// checkComments measures lines that hold nothing but a comment, of Go or of SQL in a raw string. A
// picture or a table, which gofmt begins with a tab, is as wide as it has to be.
func (s *source) checkComments(text string) {
	lines := strings.Split(text, "\n")
	check := func(line int) {
		if width := columns(lines[line-1]); width > commentColumnsMax {
			s.breaks("comment width", s.files.File(s.syntax.FileStart).LineStart(line), "%d columns, at most %d", width, commentColumnsMax)
		}
	}
	for _, group := range s.syntax.Comments {
		for line := s.files.Position(group.Pos()).Line; line <= s.files.Position(group.End()).Line; line++ {
			trimmed := strings.TrimSpace(lines[line-1])
			drawn := strings.HasPrefix(trimmed, "//\t") || strings.HasPrefix(trimmed, "//go:")
			if strings.HasPrefix(trimmed, "//") && !drawn {
				check(line)
			}
		}
	}
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING || literal.Value[0] != '`' {
			return true
		}
		for line := s.files.Position(literal.Pos()).Line; line <= s.files.Position(literal.End()).Line; line++ {
			if strings.HasPrefix(strings.TrimSpace(lines[line-1]), "--") {
				check(line)
			}
		}
		return true
	})
}

// methodCounts adds up the methods of types whose files are walked one by one.
type methodCounts map[string]int

func (c methodCounts) add(s *source) {
	for name, n := range s.methods {
		c[s.folder+"."+name] += n
	}
}

// broken returns the types with too many methods.
func (c methodCounts) broken() []string {
	var broken []string
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if limit := atMost(name, methodsMax); c[name] > limit {
			broken = append(broken, fmt.Sprintf("%s: methods of a type: %d methods, at most %d", name, c[name], limit))
		}
	}
	return broken
}
