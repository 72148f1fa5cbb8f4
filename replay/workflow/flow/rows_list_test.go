package flow_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rows are what systems with declared graphs do, and the tests that show it here: one by the row's
// name, and others that the row needs.
var rows = []struct {
	row   string
	tests []string
}{
	{"flow definition", []string{"TestRowFlowDefinition", "TestOrderOfDeclarations"}},
	{"dependencies", []string{"TestRowDependencies", "TestOneEdgeIsOne"}},
	{"run output", []string{"TestRowRunOutput"}},
	{"step output storage", []string{"TestRowStepOutputStorage"}},
	{"map step", []string{"TestRowMapStep", "TestMapKeys"}},
	{"empty array cascade", []string{"TestRowEmptyArrayCascade"}},
	{"null elements and outputs", []string{"TestRowNullElements"}},
	{"root map with an input that is no list", []string{"TestRowRootMapInput", "TestInputOfConditions"}},
	{"type violation", []string{"TestRowTypeViolation", "TestTypeViolationOfAStep"}},
	{"late or duplicate completion", []string{"TestRowLateCompletion", "TestEveryCrash"}},
	{"conditions", []string{"TestRowConditions", "TestConditionsMayChange"}},
	{"when unmet", []string{"TestRowWhenUnmet"}},
	{"skipped input", []string{"TestRowSkippedInput"}},
	{"when exhausted: skip", []string{"TestRowWhenExhausted"}},
	{"branch and join", []string{"TestRowBranchAndJoin"}},
	{"each loop", []string{"TestRowEachLoop"}},
	{"expressions and templates", []string{"TestRowExpressions", "TestCompile"}},
	{"validation", []string{"TestRowValidation", "TestCycles", "TestCyclesAmongMany"}},
	{"dynamic steps", []string{"TestRowDynamicSteps"}},
}

// TestRows: each row has its tests, and no test of a row is missing in the list.
func TestRows(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(fn.Name.Name, "Test") {
				there[fn.Name.Name] = true
			}
		}
	}
	listed := map[string]bool{"TestRows": true}
	for _, r := range rows {
		if !slices.ContainsFunc(r.tests, func(name string) bool { return strings.HasPrefix(name, "TestRow") }) {
			t.Errorf("the row %q has no test by its name", r.row)
		}
		for _, name := range r.tests {
			listed[name] = true
			if !there[name] {
				t.Errorf("the row %q has the test %s, which does not exist", r.row, name)
			}
		}
	}
	for name := range there {
		if strings.HasPrefix(name, "TestRow") && !listed[name] {
			t.Errorf("%s is of no row", name)
		}
	}
}
