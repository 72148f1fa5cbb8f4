package sqltest

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"
)

func TestStatementsAreConstantExpressions(t *testing.T) {
	t.Parallel()
	found, err := read(fstest.MapFS{
		"columns.go": {Data: []byte("package d\n\nimport \"example.org/nowhere\"\n\nconst columns = `a, b`\n\nvar _ nowhere.Type\n")},
		"load.go": {Data: []byte("package d\n\nconst (\n\tloadSQL = `SELECT ` + columns + ` FROM t`\n" +
			"\tlistSQL = loadSQL + ` LIMIT 1`\n)\n")},
		"load_test.go": {Data: []byte("package d\n\nvar otherSQL = \"\"\n")},
	})
	want := map[string]string{"loadSQL": "SELECT a, b FROM t", "listSQL": "SELECT a, b FROM t LIMIT 1"}
	if err != nil || !maps.Equal(found, want) {
		t.Errorf("got %v, %v, want %v", found, err, want)
	}
}

func TestDynamicTextIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"variable":           "var loadSQL = `SELECT 1`",
		"call":               "var loadSQL = f(`SELECT `)\n\nfunc f(s string) string { return s }",
		"of another package": "import \"example.org/nowhere\"\n\nconst loadSQL = nowhere.Text",
		"number":             "const loadSQL = 1",
		"local variable":     "func f(what string) { loadSQL := `SELECT ` + what; _ = loadSQL }",
		"local constant":     "func f() { const loadSQL = `SELECT 1` }",
		"sum with variable":  "var what = `1`\n\nconst loadSQL = `SELECT ` + what",
	} {
		_, err := read(fstest.MapFS{"load.go": {Data: []byte("package d\n\n" + text + "\n")}})
		if err == nil || !strings.Contains(err.Error(), "load.go:") || !strings.Contains(err.Error(), "loadSQL") {
			t.Errorf("%s: got error %v, want one that names the place", name, err)
		}
	}
}
