package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const program = `package p

const limit = 1 + 2

func find(list []int, want int) (int, bool) {
	for i, have := range list {
		if have == want && i >= 0 {
			return i, true
		}
		if have < 0 {
			continue
		}
	}
	return -1, false
}

func save(f func() error, names []string) error {
	names[0] = "a" + names[1]
	defer f()
	switch {
	case len(names) > 1+1:
		f()
	}
	_ = names
	if err := f(); err != nil {
		return err
	}
	return nil
}

func none() error { return nil }
`

// TestOperatorsOfGo lists every change of a small program.
func TestOperatorsOfGo(t *testing.T) {
	var got []string
	for _, m := range mutants(t, program) {
		got = append(got, strings.TrimPrefix(m.name(), "p.go:"))
	}
	want := []string{
		"6: leave at once:  => if true { return *new(int), *new(bool) };",
		"7: negate: have == want && i >= 0 => !(have == want && i >= 0)",
		"7: exchange ==: have == want => have != want",
		"7: exchange &&: have == want && i >= 0 => have == want || i >= 0",
		"7: exchange >=: i >= 0 => i > 0",
		"8: opposite answer: true => !(true)",
		"10: exchange <: have < 0 => have <= 0",
		"10: negate: have < 0 => !(have < 0)",
		"11: leave out continue: continue => if false { continue }",
		"14: opposite answer: false => !(false)",
		"18: leave at once:  => if true { return *new(error) };",
		`18: leave out: names[0] = "a" + names[1] => if false { names[0] = "a" + names[1] }`,
		"19: leave out: defer f() => if false { defer f() }",
		"21: exchange >: len(names) > 1+1 => len(names) >= 1+1",
		"21: negate: len(names) > 1+1 => !(len(names) > 1+1)",
		"21: exchange +: 1+1 => 1 - 1",
		"22: leave out: f() => if false { f() }",
		"25: exchange !=: err != nil => err == nil",
		"26: error forgotten: err => nil",
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mutants (-want +got):\n%s", diff)
	}
}

// TestMutantsAreGo: whatever is changed, the file can still be parsed, and nothing but the place of
// the mutant has changed.
func TestMutantsAreGo(t *testing.T) {
	for _, m := range mutants(t, program) {
		text := m.apply([]byte(program))
		if _, err := parser.ParseFile(token.NewFileSet(), "p.go", text, 0); err != nil {
			t.Errorf("%s: %v", m.name(), err)
		}
		if before, after := program[:m.start], program[m.end:]; !strings.HasPrefix(string(text), before) || !strings.HasSuffix(string(text), after) ||
			string(text) == program {
			t.Errorf("%s changes\n%s", m.name(), text)
		}
	}
}

const statement = "package p\n\nconst nextSQL = `\n" + `-- WHERE this is a comment
UPDATE tasks t SET owner = 0, state = CASE WHEN t.turn > $2::int THEN 1 ELSE t.state END
FROM (SELECT id FROM tasks WHERE NOT EXISTS (SELECT FROM locks l WHERE l.id = id) AND at BETWEEN 1 AND 2
    ORDER BY id DESC FOR UPDATE SKIP LOCKED) i
WHERE t.id = i.id
  AND (t.owner IS NULL OR t.last = least(1, 2))` + "`\n\nconst word = `no statement`\n\nvar other = `SELECT 1 WHERE true`\n"

// TestOperatorsOfSQL lists every change of a small statement.
func TestOperatorsOfSQL(t *testing.T) {
	var got []string
	for _, m := range mutants(t, statement) {
		if !m.isSQL {
			t.Errorf("%s is no SQL", m.name())
		}
		text := m.apply([]byte(statement))
		if _, err := parser.ParseFile(token.NewFileSet(), "p.go", text, 0); err != nil {
			t.Errorf("%s: %v", m.name(), err)
		}
		operator, _, _ := strings.Cut(strings.TrimPrefix(m.name(), "p.go:"), " => ")
		got = append(got, operator)
	}
	update := "UPDATE tasks t SET owner = 0, state = CASE WHEN t.turn > $2::int THEN 1 ELSE t.state END"
	from := "FROM (SELECT id FROM tasks WHERE NOT EXISTS (SELECT FROM locks l WHERE l.id = id) AND at BETWEEN 1 AND 2"
	last := "AND (t.owner IS NULL OR t.last = least(1, 2))`"
	want := []string{
		"5: SQL branch never taken: t.turn > $2::int",
		"5: SQL compare >: " + update,
		"5: SQL literal 0: " + update,
		"5: SQL literal 1: " + update,
		"6: SQL condition dropped: NOT EXISTS (SELECT FROM locks l WHERE l.id = id)",
		"6: SQL condition dropped: l.id = id",
		"6: SQL existence NOT EXISTS: " + from,
		"6: SQL logic AND: " + from,
		"7: SQL lock SKIP LOCKED: ORDER BY id DESC FOR UPDATE SKIP LOCKED) i",
		"7: SQL order DESC: ORDER BY id DESC FOR UPDATE SKIP LOCKED) i",
		"8: SQL condition dropped: t.id = i.id",
		"9: SQL condition dropped: (t.owner IS NULL OR t.last = least(1, 2))",
		"9: SQL condition dropped: t.last = least(1, 2)",
		"9: SQL extreme least: " + last,
		"9: SQL logic AND: " + last,
		"9: SQL logic OR: " + last,
		"9: SQL null test IS NULL: " + last,
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mutants (-want +got):\n%s", diff)
	}
}

// TestOrderOfASample: the sample of a folder is what the sample of all has of it, and a seed draws
// another sample than the next.
func TestOrderOfASample(t *testing.T) {
	all := mutants(t, program)
	some := func(m mutant) bool { return m.line < 12 }
	names := func(list []mutant) (names []string) {
		for _, m := range list {
			names = append(names, m.name())
		}
		return names
	}
	first := slices.DeleteFunc(shuffled(all, 1), func(m mutant) bool { return !some(m) })
	alone := shuffled(slices.DeleteFunc(slices.Clone(all), func(m mutant) bool { return !some(m) }), 1)
	if diff := cmp.Diff(names(first), names(alone)); diff != "" {
		t.Errorf("the order depends on other mutants (-of all +alone):\n%s", diff)
	}
	if slices.Equal(names(shuffled(all, 1)), names(shuffled(all, 2))) {
		t.Error("two seeds have one order")
	}
}

// TestGuardsOfTheModule: the guards have folders, the folders mutants, and those of SQL are in one.
func TestGuardsOfTheModule(t *testing.T) {
	root := filepath.Join("..", "..")
	all, err := guardedFolders(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	total, sql := 0, 0
	for _, g := range all {
		found, err := mutantsOf(root, g.folder)
		if err != nil {
			t.Errorf("%s: %v", g.folder, err)
		}
		total += len(found)
		for _, m := range found {
			if m.isSQL {
				sql++
			}
			if m.isSQL && g.folder != "journal/postgres" {
				t.Errorf("%s: a statement outside of journal/postgres", m.name())
			}
		}
	}
	if len(all) < 8 || sql < 500 || total < 5*sql {
		t.Errorf("%d folders, %d mutants, %d of SQL", len(all), total, sql)
	}
	if _, err := guardedFolders(root, []string{"actor", "jurnal"}); err == nil || !strings.Contains(err.Error(), `"jurnal"`) {
		t.Errorf("a folder without a guard: %v", err)
	}
}

// mutants returns those of one file.
func mutants(t *testing.T, source string) []mutant {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "p.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "p_test.go"), []byte("package p\n\nfunc help() bool { return true }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	all, err := mutantsOf(folder, ".")
	if err != nil {
		t.Fatal(err)
	}
	return all
}
