package postgres

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/filter"
	"github.com/reprise-run/reprise/journal/internal/sqltest"
)

// closedSet matches a text that consists of fragments and of names of parameters, and of nothing
// else.
func closedSet(t testing.TB) *regexp.Regexp {
	t.Helper()
	texts := sqltest.Constants(t, ".", "fragment")
	if len(texts) < 60 {
		t.Fatalf("found only %d fragments", len(texts))
	}
	slices.SortFunc(texts, func(a, b string) int { return len(b) - len(a) })
	parts := []string{`\$[0-9]{1,4}`}
	for _, text := range texts {
		if text != "" {
			parts = append(parts, regexp.QuoteMeta(text))
		}
	}
	return regexp.MustCompile(`^(?:` + strings.Join(parts, "|") + `)*$`)
}

// TestFragmentsAreConstants: nothing in the package makes a fragment of a string.
func TestFragmentsAreConstants(t *testing.T) {
	t.Parallel()
	for _, place := range sqltest.Conversions(t, ".", "fragment") {
		t.Errorf("%s: a string is converted to a fragment", place)
	}
}

// TestLabelForms: the database reads a label as Go does.
func TestLabelForms(t *testing.T) {
	t.Parallel()
	if !strings.Contains(string(labelNumber2), "'"+filter.NumberPattern+"'") || !strings.Contains(string(labelTime2), "'"+filter.TimePattern+"'") {
		t.Errorf("the forms of labels are %s and %s", labelNumber2, labelTime2)
	}
}

// statementOf returns the statement of a filter, for its first page or for the one after.
func statementOf(t testing.TB, text string, second bool) *built {
	t.Helper()
	q, err := filter.NewQuery(text, "", func() (time.Time, error) { return time.Now(), nil })
	if err != nil {
		return nil
	}
	if second {
		q.After = &filter.Place{Value: 1, Run: journal.NewRunID()}
	}
	b, _, err := findStatement(&journal.ListFilter{Workflow: text, KeyPrefix: text, Key: text, Where: text}, q)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return b
}

// hostile is input that would be seen in a statement.
const hostile = `'); DROP TABLE runs; -- $1 " \ reprise. %`

var whereSeeds = []string{
	`workflow = "order" and status in ("failed", "blocked") and total > 100 and error.class = "Timeout" and closed between -2d and now order by duration desc`,
	`label."x' OR 1=1 --" = "'); DROP TABLE runs; --" or not key in ("$1", "reprise.runs")`, `status in (failed, blocked, open, cancelled, terminated, quarantined, paused)`,
	`total between 1 and 2 or due > 2026-11-28 or due between -2d and now or paid != true or paid in (true, "x", 5)`, `not waiting starts with "a'b" and waiting != "x" and waiting is set`,
	`error.class starts with "%" or error.class != "x" or error.class in ("a", "b") or error.class is set`, `id in ("0193a2c8-7f55-7000-8000-000000000001") or parent is set`,
	`node > 3 and priority in (1, 2) and generation between 1 and 3`, `duration > 5m and duration in (1s, 2s) and deadline < +1d order by closed asc`, `order by duration asc`,
	`label.a = true and label.b starts with "x" and label.c is not set and key starts with "k" order by created asc`, `queue != "x" and started < now and created = 2026-11-28`,
}

// FuzzWhere: what somebody says never becomes text of a statement, whatever it is.
func FuzzWhere(f *testing.F) {
	for _, text := range whereSeeds {
		f.Add(text, hostile)
	}
	set := closedSet(f)
	f.Fuzz(func(t *testing.T, text, said string) {
		q := func(s string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"` }
		for _, text := range []string{text, fmt.Sprintf("label.%s = %s and key starts with %s or workflow in (%s)", q(said[:min(len(said), 64)]), q(said), q(said), q(said))} {
			for _, second := range []bool{false, true} {
				b := statementOf(t, text, second)
				if b == nil {
					continue
				}
				if sql := b.text.String(); !set.MatchString(sql) {
					t.Errorf("%q becomes a statement with a text of its own:\n%s", text, sql)
				}
			}
		}
	})
}
