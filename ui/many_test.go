package ui_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/ui/uitest"
)

var (
	many = flag.Int("runs", 300, "runs of TestManyRuns; make million has a million")
	asks = flag.Int("asks", 1, "how often TestManyRuns asks for each filter")
)

// documented are the filters of docs/finding-runs.md, a line each.
func documented(t *testing.T) (filters []string) {
	t.Helper()
	text, err := os.ReadFile("../docs/finding-runs.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?s)\n```filter\n(.*?)\n```").FindAllStringSubmatch(string(text), -1) {
		filters = append(filters, strings.Split(block[1], "\n")...)
	}
	if len(filters) < 20 {
		t.Fatalf("docs/finding-runs.md has the filters %q", filters)
	}
	return filters
}

// TestManyRuns prints how long the page of runs takes until its first paint and until its rows are
// there, and each documented filter until the browser has the first page. Every filter is answered.
// It limits nothing: machines are busy. Figures are in bench/results.
func TestManyRuns(t *testing.T) {
	t.Parallel()
	filters := documented(t)
	s := uitest.New(t, nil)
	s.PlantMany(t, *many)
	p := uitest.Open(t, s, "runs")
	p.Await(rows + ` === 50`)
	p.Go("runs") // by a browser that has the script
	p.Await(rows + ` === 50 && performance.getEntriesByName("first-contentful-paint").length > 0`)
	t.Logf("%d runs: first paint after %d ms, 50 rows after %d ms", *many,
		uitest.Eval[int](p, `Math.round(performance.getEntriesByName("first-contentful-paint")[0].startTime)`),
		uitest.Eval[int](p, `Math.round(performance.getEntriesByType("resource").find(e => e.name.includes("api/runs?")).responseEnd)`))
	for _, f := range filters {
		var took []float64
		for range *asks {
			took = append(took, uitest.Eval[float64](p, fmt.Sprintf(`(async () => {
				const begin = performance.now();
				const answer = await fetch("api/runs?limit=50&where=" + encodeURIComponent(%q));
				const body = await answer.json();
				return answer.ok && Array.isArray(body.runs) ? performance.now() - begin : -1;
			})()`, f)))
		}
		slices.Sort(took)
		if took[0] < 0 {
			t.Errorf("%s is not answered", f)
		}
		t.Logf("| `%s` | %.0f | %.0f |", strings.ReplaceAll(f, "|", `\|`), took[len(took)/2], took[len(took)*95/100])
	}
}
