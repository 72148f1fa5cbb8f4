package sqlite

import (
	"slices"
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

// counted counts the rows that a listing reads, and those of them for which more is asked.
type counted struct {
	querier
	rows, asked int
}

func (c *counted) query(sql string, each func(r row) error, args ...any) error {
	return c.querier.query(sql, func(r row) error {
		if c.rows++; sql == askSQL {
			c.asked++
		}
		return each(r)
	}, args...)
}

// reads finds a page that is not empty, and returns what it has read.
func reads(t *testing.T, s *Store, f journal.ListFilter, most int) (found []journal.RunID, count *counted) {
	t.Helper()
	if found, count = finds(t, s, f, most); len(found) == 0 {
		t.Fatalf("%s: no runs", f.Where)
	}
	return found, count
}

// finds finds a page and returns what it has read.
func finds(t *testing.T, s *Store, f journal.ListFilter, most int) (found []journal.RunID, count *counted) {
	t.Helper()
	w, err := newFinding(&f, now())
	if err != nil {
		t.Fatal(err)
	}
	w.most = most
	l, err := newListing(w.narrow(f))
	if err != nil {
		t.Fatal(err)
	}
	l.where, count = w, &counted{}
	err = s.read(t.Context(), func(c *conn) error {
		count.querier = c
		found, err = l.findPlaced(t.Context(), count)
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", f.Where, err)
	}
	return found, count
}

// TestPagesTakeTheShorterWay: a page that its order would fill late is sorted from what has an
// index, and one that has many candidates there is filled in its order.
func TestPagesTakeTheShorterWay(t *testing.T) {
	t.Parallel()
	const runs, most, want = 20_000, 1_000, 3_000 // 600 have failed, 15 of them of each class
	s := plantMonth(t, runs)
	for _, where := range []string{
		`status = failed and error.class = "class11" and total > 4000 order by duration desc`,
		`closed > -1000d order by duration desc`,
		`status = failed order by closed asc`,
	} {
		if _, count := reads(t, s, journal.ListFilter{Where: where, Limit: 5}, most); count.rows > want {
			t.Errorf("%s: %d rows are read, want %d at most", where, count.rows, want)
		}
	}
}

// TestFindReadsAPage: what a documented shape reads has to do with what it selects, and not with how
// many runs there are.
func TestFindReadsAPage(t *testing.T) {
	t.Parallel()
	const runs, want = 20_000, 3 * listChunk
	s := plantMonth(t, runs)
	for _, shape := range append(slices.Clone(shapes),
		`status = failed order by created asc`, `status in ("cancelled", "open", "terminated")`, `error.class = "class11"`, `status = "open" and workflow = "order"`,
		`closed > -1000d order by duration desc`, `workflow = "order" and closed between -2h and -1h order by duration desc`) {
		f := journal.ListFilter{Where: shape, Limit: 50}
		if _, count := reads(t, s, f, gatherMax); count.rows > want {
			t.Errorf("%s: %d rows are read, want %d at most", f.Where, count.rows, want)
		}
	}
	for _, where := range []string{`waiting starts with "signal"`, `status in ("failed", "blocked") order by closed desc`} {
		if _, count := reads(t, s, journal.ListFilter{Where: where, Limit: 10}, 100); count.asked > askedMin {
			t.Errorf("%s: %d runs are asked for a page of 10, want %d at most", where, count.asked, askedMin)
		}
	}
}

// TestPartsAreOneListing: what is put together from a part for each status is what one listing of
// all runs finds, also where a part is left because the others have filled the page. A condition
// inside an or has no parts.
func TestPartsAreOneListing(t *testing.T) {
	t.Parallel()
	s := plantMonth(t, 20_000)
	for _, rest := range []string{`version >= 1`, `(not error.class is set or error.class = "class11")`, `region = "de"`} {
		for _, limit := range []int{1, 50, 197, 900} {
			parts, _ := reads(t, s, journal.ListFilter{Where: `status in ("open", "failed", "cancelled") and ` + rest, Limit: limit}, gatherMax)
			one, _ := reads(t, s, journal.ListFilter{Where: `(status = open or status = failed or status = cancelled) and ` + rest, Limit: limit}, gatherMax)
			if n := min(len(parts), len(one), limit+1); len(one) < n || !slices.Equal(parts[:n], one[:n]) || min(len(one), limit+1) != len(parts) {
				t.Errorf("%s: %d runs are found in parts, %d in one, and differ", rest, len(parts), len(one))
			}
		}
	}
}

// TestFailuresAreFoundByEachName: of up to namesMax names, and of more, each is found wherever it
// stands, once.
func TestFailuresAreFoundByEachName(t *testing.T) {
	t.Parallel()
	s := plantMonth(t, 3_000)
	for where, want := range map[string]int{
		`error.class = "class11"`:                                      3,
		`error.class in ("class11", "none", "neither")`:                3,
		`error.class in ("none", "class11", "neither")`:                3,
		`error.class in ("none", "neither", "class11")`:                3,
		`error.class in ("class1", "none", "neither")`:                 0, // a part of others
		`error.class in ("class11", "class41", "class12")`:             9, // one of them was cancelled
		`error.class in ("class11", "class11", "class12")`:             6,
		`error.class in ("class11", "class41", "class12", "class13")`:  12,
		`status = "failed" and error.class in ("class41", "class12")`:  3,
		`error.class in ("class11", "class12") and closed > -1000d`:    6,
		`error.class in ("none", "class12") order by duration desc`:    3,
		`error.class in ("none", "quoted \"name\"", "class12")`:        3,
		`not error.class in ("none", "class12") and status = "failed"`: 87,
	} {
		page, err := s.List(t.Context(), journal.ListFilter{Where: where, Limit: journal.ListMax})
		if err != nil || len(page.Runs) != want {
			t.Errorf("%s: %d runs, %v, want %d", where, len(page.Runs), err, want)
		}
	}
}

// TestNoMoreIsCountedThanWalked: what else could be gathered is counted up to the runs that a walk
// meets, which a walk in another order, or over all runs, does not bound.
func TestNoMoreIsCountedThanWalked(t *testing.T) {
	t.Parallel()
	s := plantMonth(t, 3_000)
	for _, c := range []struct {
		filter journal.ListFilter
		want   int
	}{
		{journal.ListFilter{Where: `status = "failed" and closed > -1000d`}, 90},
		{journal.ListFilter{Where: `status in ("failed", "cancelled") and closed > -1000d`}, 96},
		{journal.ListFilter{Where: `error.class = "class11" and closed > -1000d`}, 96},
		{journal.ListFilter{Where: `status = "completed" and closed > -1000d`}, gatherMax},
		{journal.ListFilter{Where: `closed > -1000d`}, gatherMax},
		{journal.ListFilter{Where: `status = "failed" order by duration desc`}, gatherMax},
		{journal.ListFilter{Where: `status = "failed" order by created asc`}, gatherMax},
		{journal.ListFilter{Where: `status = "failed" and key = "key-11"`}, gatherMax},
	} {
		w, err := newFinding(&c.filter, now())
		if err != nil {
			t.Fatal(err)
		}
		l, err := newListing(w.narrow(c.filter))
		if err != nil {
			t.Fatal(err)
		}
		l.where = w
		var most int
		if err = s.read(t.Context(), func(c *conn) (err error) { most, err = l.mostGathered(c); return err }); err != nil || most != c.want {
			t.Errorf("%s: %d, %v, want %d", c.filter.Where, most, err, c.want)
		}
	}
}
