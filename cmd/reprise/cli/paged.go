package cli

import "github.com/reprise-run/reprise/journal"

// paged reads pages until there are so many elements, 0 for all, and says how to go on if there are
// more. With jsonl each page is printed when it is there, so a list of all needs no memory for
// them, and none of them is returned. next is the cursor behind the last page, empty if there is
// no more.
func paged[T any](c *call, cursor string, limit int, page func(cursor string, limit int) (list []T, next string, err error)) (all []T, next string, err error) {
	all, next = []T{}, cursor
	left := limit
	for more := true; more; {
		size := journal.ListMax
		if limit > 0 {
			size = min(left, size)
		}
		var list []T
		if list, next, err = page(next, size); err != nil {
			return nil, "", err
		}
		all = append(all, list...)
		left -= len(list)
		if more = next != "" && (limit == 0 || left > 0); c.out.format == formatLines {
			if err := printLines(c.out, all); err != nil {
				return nil, "", err
			}
			all = all[:0]
		}
	}
	if next != "" && c.out.format != formatJSON {
		c.note("there are more runs: --cursor %s goes on, --limit 0 lists all", next)
	}
	return all, next, nil
}
