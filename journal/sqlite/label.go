package sqlite

import (
	"strings"

	"github.com/reprise-run/reprise/journal/filter"
)

// Labels are also rows of a table, which triggers keep: see its migration. A label of one text has
// its runs in the order of ids; the runs whose label has any of several texts have none.
const (
	listLabelSQL = `
SELECT ` + candidateColumns + `
FROM reprise_labels k CROSS JOIN reprise_runs r ON r.id = k.run_id
WHERE k.run_id < ? AND k.name = ? AND k.value = ? ORDER BY k.run_id DESC LIMIT +?`

	gatherLabelsSQL = `
SELECT ` + candidateColumns + `
FROM reprise_labels k CROSS JOIN reprise_runs r ON r.id = k.run_id
WHERE +k.run_id < ? AND k.name = ? AND k.value >= ? AND k.value < ? LIMIT +?`

	countLabelSQL = `
SELECT count(*) FROM (SELECT 1 FROM reprise_labels k WHERE k.name = ? AND k.value = ? LIMIT +?)`
	countLabelsSQL = `
SELECT count(*) FROM (SELECT 1 FROM reprise_labels k WHERE k.name = ? AND k.value >= ? AND k.value < ? LIMIT +?)`
)

// labelled returns a part for each text that a label may have, nil if these are not few.
func (w *finding) labelled(c *filter.Cond) (parts []part) {
	if c.Field != filter.FieldLabel || c.Op != filter.Equal && c.Op != filter.In {
		return nil
	}
	said := map[string]bool{}
	for _, v := range c.Values {
		if v.Kind == filter.KindNumber || v.Kind == filter.KindTime { // written in many ways
			return nil
		}
		if !said[v.Text] {
			said[v.Text] = true
			parts = append(parts, w.part(listLabelSQL, c.Label, v.Text)...)
		}
	}
	return parts
}

// labelRanges returns what may be gathered by the names of labels and by how their texts begin.
func (w *finding) labelRanges() (list [][]part) {
	for _, e := range w.all {
		c, ok := e.(*filter.Cond)
		switch {
		case !ok || c.Negate || c.Field != filter.FieldLabel || w.labelled(c) != nil:
		case c.Op == filter.StartsWith && c.Values[0].Text != "":
			prefix := c.Values[0].Text
			list = append(list, w.part(gatherLabelsSQL, c.Label, prefix, after(prefix)))
		default:
			list = append(list, w.part(gatherLabelsSQL, c.Label, "", textsEnd))
		}
	}
	return list
}

// textsEnd is behind all texts: bytes that are none are.
var textsEnd = []byte{0}

// plainName tells whether a name stands in JSON as it is, whoever wrote it.
func plainName(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r)
	}) < 0
}
