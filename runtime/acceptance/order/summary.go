package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
)

// printSummary prints a line for each outcome: how many orders ended so, what they paid, got back
// and left with the shop.
func printSummary(out io.Writer, f *facts) {
	type line struct {
		orders         int
		paid, returned sum
	}
	outcome := map[string]string{}
	lines := map[string]*line{}
	for _, t := range f.tickets {
		o := cmp.Or(f.outcomes[t.ID], "still open")
		outcome[t.ID] = o
		if lines[o] == nil {
			lines[o] = &line{}
		}
		lines[o].orders++
	}
	for _, c := range f.charges {
		l := lines[outcome[c.Order]]
		switch {
		case l == nil: // of an earlier start with more orders
		case c.Cents < 0:
			l.returned.add(-c.Cents)
		default:
			l.paid.add(c.Cents)
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%-17s\torders\tpaid\treturned\tkept\t\n", "outcome")
	total := &line{}
	print := func(name string, l *line) {
		var kept sum
		kept.Sub(&l.paid.Int, &l.returned.Int)
		fmt.Fprintf(w, "%-17s\t%d\t%s\t%s\t%s\t\n", name, l.orders, l.paid.money(), l.returned.money(), kept.money())
	}
	for _, name := range slices.SortedFunc(maps.Keys(lines), func(a, b string) int {
		return cmp.Or(cmp.Compare(lines[b].orders, lines[a].orders), cmp.Compare(a, b))
	}) {
		l := lines[name]
		print(name, l)
		total.orders += l.orders
		total.paid.Add(&total.paid.Int, &l.paid.Int)
		total.returned.Add(&total.returned.Int, &l.returned.Int)
	}
	print("all", total)
	_ = w.Flush() // out is a terminal, a file or a buffer; nothing to do about it
}
