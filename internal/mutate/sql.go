package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
)

// A condition begins after one of these words and ends before one of those, or where the bracket
// around it closes. What follows ON or WHERE in the middle of an expression does not matter: a
// mutant that is no SQL is not counted.
var (
	conditionBegins = regexp.MustCompile(`^(WHERE|AND|OR|WHEN|ON|NOT)\b`)
	conditionEnds   = regexp.MustCompile(`^(AND|OR|THEN|WHERE|ORDER|GROUP|LIMIT|RETURNING|FOR|ELSE|WHEN|END|UNION|JOIN|LEFT|CROSS|AS|DO|FROM|ON CONFLICT)\b`)
	looksLikeSQL    = regexp.MustCompile(`\b(SELECT|UPDATE|INSERT|DELETE|WHERE|FROM|AND)\b`)
)

// sqlSwap is a pattern and what it becomes. The first group is replaced.
type sqlSwap struct {
	operator string
	pattern  *regexp.Regexp
	becomes  map[string]string
}

var sqlSwaps = []sqlSwap{
	{"compare", regexp.MustCompile(` (<=|>=|<>|<|>) `), map[string]string{"<": "<=", "<=": "<", ">": ">=", ">=": ">", "<>": "="}},
	{"null test", regexp.MustCompile(`\b(IS NULL|IS NOT NULL|IS DISTINCT FROM|IS NOT DISTINCT FROM)\b`), map[string]string{
		"IS NULL": "IS NOT NULL", "IS NOT NULL": "IS NULL", "IS DISTINCT FROM": "IS NOT DISTINCT FROM", "IS NOT DISTINCT FROM": "IS DISTINCT FROM"}},
	{"existence", regexp.MustCompile(`\b(NOT EXISTS)\b`), map[string]string{"NOT EXISTS": "EXISTS"}},
	{"extreme", regexp.MustCompile(`\b(least|greatest|min|max)\(`), map[string]string{"least": "greatest", "greatest": "least", "min": "max", "max": "min"}},
	{"literal", regexp.MustCompile(`\b(true|false)\b`), map[string]string{"true": "false", "false": "true"}},
	{"literal", regexp.MustCompile(`(?:[=+]|THEN|ELSE) (0|1)\b`), map[string]string{"0": "1", "1": "0"}},
	{"lock", regexp.MustCompile(`( SKIP LOCKED| NOWAIT)\b`), map[string]string{" SKIP LOCKED": "", " NOWAIT": ""}},
	{"order", regexp.MustCompile(`( DESC)\b`), map[string]string{" DESC": ""}},
	{"logic", regexp.MustCompile(` (AND|OR) `), map[string]string{"AND": "OR", "OR": "AND"}},
}

// sqlMutants returns those of the constants that hold SQL: raw texts at package level.
func sqlMutants(name string, source []byte) ([]mutant, error) {
	files := token.NewFileSet()
	syntax, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, decl := range syntax.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.CONST {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && lit.Value[0] == '`' && looksLikeSQL.MatchString(lit.Value) {
				start := files.Position(lit.Pos()).Offset
				all = append(all, statementMutants(name, string(source), start, start+len(lit.Value))...)
			}
			return true
		})
	}
	return all, nil
}

// statementMutants returns the mutants of the statement that stands between two places of a file.
func statementMutants(name, source string, start, end int) []mutant {
	var all []mutant
	sql := withoutComments(source[start:end])
	add := func(operator string, from, to int, text string) {
		all = append(all, mutant{file: name, line: 1 + strings.Count(source[:start+from], "\n"), operator: "SQL " + operator,
			start: start + from, end: start + to, old: source[start+from : start+to], text: text, isSQL: true})
	}
	for from := range sql {
		word := conditionBegins.FindString(sql[from:])
		if word == "" || from > 0 && isWord(sql[from-1]) {
			continue
		}
		at, to := condition(sql, from+len(word))
		// The condition stays, because Postgres wants to know the type of each parameter.
		switch cond := source[start+at : start+to]; {
		case at == to || word == "NOT" || sql[at:to] == "true":
		case strings.Contains(sql[at:to], " BETWEEN ") || word == "AND" && endsRange(sql, from):
		case word == "WHEN":
			add("branch never taken", at, to, "(("+cond+"\n) AND false)")
		default:
			add("condition dropped", at, to, "(("+cond+"\n) OR true)")
		}
	}
	for _, swap := range sqlSwaps {
		for _, m := range swap.pattern.FindAllStringSubmatchIndex(sql, -1) {
			old := sql[m[2]:m[3]]
			if swap.operator == "logic" && endsRange(sql, m[2]) {
				continue
			}
			add(swap.operator+" "+strings.TrimSpace(old), m[2], m[3], swap.becomes[old])
			all[len(all)-1].showLine(source)
		}
	}
	return all
}

// condition returns where the condition begins and ends that is looked for from a place on.
func condition(sql string, from int) (start, end int) {
	for from < len(sql) && strings.IndexByte(" \n\t", sql[from]) >= 0 {
		from++
	}
	depth, quoted := 0, false
	for i := from; i < len(sql); i++ {
		switch c := sql[i]; {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case depth > 0:
		case c == ')' || c == ',' || c == ';' || c == '`', !isWord(sql[i-1]) && conditionEnds.MatchString(sql[i:]):
			return from, from + len(strings.TrimRight(sql[from:i], " \n\t"))
		}
	}
	return from, from
}

// showLine widens a small change to its line, so that its name tells where it is.
func (m *mutant) showLine(source string) {
	from := strings.LastIndexByte(source[:m.start], '\n') + 1
	to := m.end + strings.IndexByte(source[m.end:]+"\n", '\n')
	m.text = source[from:m.start] + m.text + source[m.end:to]
	m.old, m.start, m.end = source[from:to], from, to
}

// withoutComments blanks what follows -- in each line, so that all places stay what they are.
func withoutComments(sql string) string {
	lines := strings.SplitAfter(sql, "\n")
	for i, line := range lines {
		if at := strings.Index(line, "--"); at >= 0 {
			tail := strings.TrimRight(line[at:], "\n`")
			lines[i] = line[:at] + strings.Repeat(" ", len(tail)) + line[at+len(tail):]
		}
	}
	return strings.Join(lines, "")
}

// endsRange tells whether an AND belongs to a BETWEEN before it in the line.
func endsRange(sql string, at int) bool {
	return strings.Contains(sql[strings.LastIndexByte(sql[:at], '\n')+1:at], "BETWEEN")
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
