package filter

import "github.com/reprise-run/reprise/journal"

// DistinctStatuses returns the statuses of a condition without those that are named twice, and
// without states of open runs if all open runs are meant: no run has two of what is returned.
func DistinctStatuses(values []Value) (list []Value) {
	all, done := false, map[string]bool{}
	for _, v := range values {
		all = all || v.Text == journal.Open.String()
	}
	for _, v := range values {
		if _, state := v.Status(); !done[v.Text] && !(all && state != journal.Ready) {
			done[v.Text] = true
			list = append(list, v)
		}
	}
	return list
}
