package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strings"
)

// source is one parsed file.
type source struct {
	name, folder, module string
	isTest               bool // a _test.go file
	isHelper             bool // in a package for tests only, such as journaltest
	syntax               *ast.File
	files                *token.FileSet
	methods              map[string]int // of each type, in this file
	broken               []string
}

func (s *source) breaks(rule string, at token.Pos, format string, args ...any) {
	line := s.files.Position(at).Line
	s.broken = append(s.broken, fmt.Sprintf("%s:%d: %s: %s", s.name, line, rule, fmt.Sprintf(format, args...)))
}

// parseFile parses one file of a tree that need not be on disk.
func parseFile(tree fs.FS, files *token.FileSet, name string) (*ast.File, error) {
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	return parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
}

func receiverType(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverType(e.X)
	case *ast.IndexExpr:
		return receiverType(e.X)
	case *ast.IndexListExpr:
		return receiverType(e.X)
	case *ast.Ident:
		return e.Name
	default:
		return ""
	}
}

// commentLines counts the lines of a Go file that hold only a comment, and the others that are not
// blank. A line that begins with -- inside a raw string is a comment of SQL.
func commentLines(text string) (comments, code int) {
	block, raw := false, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case raw:
			if strings.HasPrefix(line, "--") {
				comments++
			} else if line != "" {
				code++
			}
			raw = raw != (strings.Count(line, "`")%2 == 1)
		case block:
			comments++
			block = !strings.Contains(line, "*/")
		case line == "":
		case strings.HasPrefix(line, "//"):
			comments++
		case strings.HasPrefix(line, "/*"):
			comments++
			block = !strings.Contains(line, "*/")
		default:
			code++
			before, _, _ := strings.Cut(line, "//")
			raw = strings.Count(before, "`")%2 == 1
		}
	}
	return comments, code
}

func lineSpan(files *token.FileSet, n ast.Node) int {
	return files.Position(n.End()).Line - files.Position(n.Pos()).Line + 1
}

// columns returns the width of a line: a tab leads to the next multiple of four.
func columns(line string) int {
	width := 0
	for _, r := range line {
		if r == '\t' {
			width += 4 - width%4
		} else {
			width++
		}
	}
	return width
}
