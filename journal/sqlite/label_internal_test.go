package sqlite

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
)

// TestDocumentedFiltersReadAPage: each filter of docs/finding-runs.md looks at few runs, also where
// it selects few or none of many. Those that have an index for a part of them look at that part: of
// a thousand runs ten are open and thirty have failed.
func TestDocumentedFiltersReadAPage(t *testing.T) {
	t.Parallel()
	const runs, want = 20_000, 5_000
	s := plantMonth(t, runs)
	text, err := os.ReadFile("../../docs/finding-runs.md")
	if err != nil {
		t.Fatal(err)
	}
	filters := 0
	for _, block := range regexp.MustCompile("(?s)\n```filter\n(.*?)\n```").FindAllStringSubmatch(string(text), -1) {
		for where := range strings.SplitSeq(block[1], "\n") {
			for _, order := range []string{"", " order by created asc"} {
				if order != "" && strings.Contains(where, "order by") {
					continue
				}
				filters++
				if _, count := finds(t, s, journal.ListFilter{Where: where + order, Limit: 50}, gatherMax); count.rows > want {
					t.Errorf("%s: %d rows are read, want %d at most", where+order, count.rows, want)
				}
			}
		}
	}
	if filters < 40 {
		t.Errorf("docs/finding-runs.md has %d filters", filters)
	}
}

// TestLabelsAreFound: a run is found by the labels that it has, and by no other, whoever has changed
// its row, and after it is gone nothing of them is left.
func TestLabelsAreFound(t *testing.T) {
	t.Parallel()
	s := plantMonth(t, 2_000)
	exec := func(sql string, args ...any) {
		t.Helper()
		if err := s.write(t.Context(), 0, func(b *batch) error { _, err := b.exec(sql, args...); return err }); err != nil {
			t.Fatal(err)
		}
	}
	found := func(where string) int {
		t.Helper()
		got, _ := finds(t, s, journal.ListFilter{Where: where, Limit: 100}, gatherMax)
		return len(got)
	}
	check := func(want ...int) {
		t.Helper()
		var got []int
		for _, where := range []string{`paid = true`, `paid = false`, `paid in ("true", "false", "true")`, `paid is set`, `paid starts with "f"`} {
			got = append(got, found(where))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v runs are found, want %v", got, want)
		}
	}
	check(2, 0, 2, 2, 0)
	exec(`UPDATE reprise_runs SET labels = json_patch(labels, '{"paid":"false"}') WHERE key = 'key-503'`)
	check(1, 1, 2, 2, 1)
	exec(`UPDATE reprise_runs SET labels = NULL WHERE key = 'key-503'`)
	exec(`UPDATE reprise_runs SET labels = '{"paid":"false"}' WHERE key IN ('key-503', 'key-504')`)
	check(1, 2, 3, 3, 2)
	exec(`UPDATE reprise_runs SET labels = 'no JSON' WHERE key = 'key-504'`)
	check(1, 1, 2, 2, 1)
	exec(`UPDATE reprise_runs SET labels = '{"paid":""}' WHERE key = 'key-504'`)
	check(1, 1, 2, 3, 1)
	exec(`DELETE FROM reprise_runs WHERE key IN ('key-503', 'key-1503')`)
	check(0, 0, 0, 1, 0)
	exec(`DELETE FROM reprise_runs`)
	left := 0
	err := s.read(t.Context(), func(c *conn) error {
		return c.query(`SELECT 1 FROM reprise_labels`, func(row) error { left++; return nil })
	})
	if err != nil || left != 0 {
		t.Errorf("%d labels are left of runs that are gone, %v", left, err)
	}
}
