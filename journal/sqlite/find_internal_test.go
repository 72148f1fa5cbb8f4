package sqlite

import (
	"testing"

	"github.com/reprise-run/reprise/journal"
)

// TestFindingKeepsWhatItSelects: a listing looks at many runs and remembers those that it returns,
// whatever refuses the others: the row of a run, its task or its end, the other fields of a filter.
func TestFindingKeepsWhatItSelects(t *testing.T) {
	t.Parallel()
	const runs = 22_000 // more than are gathered
	s := plantMonth(t, runs)
	for _, shape := range shapes { // what is planted is found
		if page, err := s.List(t.Context(), journal.ListFilter{Where: shape, Limit: 1}); err != nil || len(page.Runs) == 0 {
			t.Errorf("%s: %d runs, %v", shape, len(page.Runs), err)
		}
	}
	for _, f := range []journal.ListFilter{
		{Where: `total = 77`},
		{Where: `error.class = "class11"`},
		{Where: `waiting = "nothing"`},
		{Where: `total >= 0 and status = failed and error.class = "class11" order by closed desc`},
		{Where: `closed is set and not error.class = "class11" and not error.class is not set`},
		{Where: `version >= 1 order by duration desc`, Labels: map[string]string{"total": "77"}},
		{Where: `closed > -1000d and total = 77`},
		{Where: `closed > -1000d order by closed desc`, Limit: 10},
		{Where: `version = 1`, Unchanged: "nothing"},
	} {
		w, err := newFinding(&f, now())
		if err != nil {
			t.Fatal(err)
		}
		w.rows = map[journal.RunID]*journal.Run{}
		l, err := newListing(w.narrow(f))
		if err != nil {
			t.Fatal(err)
		}
		l.where = w
		var found []journal.RunID
		err = s.read(t.Context(), func(c *conn) (err error) { found, err = l.findPlaced(t.Context(), c); return err })
		if err != nil {
			t.Fatalf("%s: %v", f.Where, err)
		}
		if len(w.places) != len(found) || len(w.rows) != len(found) {
			t.Errorf("%s: %d places and %d rows are kept of %d runs that are found", f.Where, len(w.places), len(w.rows), len(found))
		}
	}
}

// counted counts the rows that a listing reads.
type counted struct {
	querier
	rows int
}

func (c *counted) query(sql string, each func(r row) error, args ...any) error {
	return c.querier.query(sql, func(r row) error { c.rows++; return each(r) }, args...)
}

// TestPagesTakeTheShorterWay: a page that its order would fill late is sorted from what has an
// index, and one that has many candidates there is filled in its order.
func TestPagesTakeTheShorterWay(t *testing.T) {
	t.Parallel()
	const runs, first, late = 20_000, 500, 1_000 // 600 have failed, 15 of them of each class
	s := plantMonth(t, runs)
	for _, where := range []string{
		`status = failed and error.class = "class11" and total > 4000 order by duration desc`,
		`closed > -1000d order by duration desc`,
		`status = failed order by closed asc`,
	} {
		f := journal.ListFilter{Where: where, Limit: 5}
		w, err := newFinding(&f, now())
		if err != nil {
			t.Fatal(err)
		}
		w.turns = []int{first, late}
		l, err := newListing(w.narrow(f))
		if err != nil {
			t.Fatal(err)
		}
		l.where = w
		var found []journal.RunID
		count := &counted{}
		err = s.read(t.Context(), func(c *conn) (err error) {
			count.querier = c
			found, err = l.findPlaced(t.Context(), count)
			return err
		})
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d runs, %v", where, len(found), err)
		}
		if count.rows > 6*first {
			t.Errorf("%s: %d rows are read, want %d at most", where, count.rows, 6*first)
		}
	}
}
