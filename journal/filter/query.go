package filter

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Query is a filter in the form in which a store executes it: relative times are put in, no Not is
// left, and it knows where the page before has ended.
type Query struct {
	Where Expr // nil selects everything
	Order Order
	After *Place // nil for the first page

	now time.Time // what relative times were counted from, for all pages
}

// Place is where a run stands in an order: its value, in microseconds, and then its id. The value
// of an order by id is 0. Two runs never stand in the same place.
type Place struct {
	Value int64
	Run   journal.RunID
}

// NewQuery reads a filter and the cursor of the page before, which is empty for the first one. now
// is asked only if the filter has relative times: it is the store's clock. All pages of a listing
// count from the same moment, that of the first one, because the cursor has it.
func NewQuery(where, cursor string, now func() (time.Time, error)) (*Query, error) {
	f, err := Parse(where)
	if err != nil {
		return nil, err
	}
	q := &Query{Order: f.Order}
	if cursor != "" {
		if err := q.resume(cursor); err != nil {
			return nil, err
		}
	}
	if f.Relative() {
		if q.After == nil {
			if q.now, err = now(); err != nil {
				return nil, err
			}
		}
		f = f.At(q.now)
	}
	q.Where = Positive(f.Where)
	return q, nil
}

// code stands for the order in cursors.
func (o Order) code() string {
	code := "n"
	switch o.By {
	case FieldClosed:
		code = "c"
	case FieldDuration:
		code = "d"
	}
	if o.Ascending {
		return code + "a"
	}
	return code
}

// Cursor returns the cursor behind a run: its id, its value in the order, the order, and the time
// from which relative times count.
func (q *Query) Cursor(run *journal.Run) string {
	p, _ := q.Order.Place(run)
	return fmt.Sprintf("%s.%s.%d.%d", p.Run, q.Order.code(), p.Value, q.now.UnixMicro())
}

// resume reads what Cursor wrote. A cursor of another order is refused: to go on from it would
// leave runs out.
func (q *Query) resume(cursor string) error {
	refuse := func() error {
		return fmt.Errorf("cursor %q: %w: it is RunPage.Next of a page with the same filter and order", cursor, journal.ErrInvalid)
	}
	parts := strings.Split(cursor, ".")
	if len(parts) != 4 || parts[1] != q.Order.code() {
		return refuse()
	}
	run, err1 := journal.ParseRunID(parts[0])
	value, err2 := strconv.ParseInt(parts[2], 10, 64)
	now, err3 := strconv.ParseInt(parts[3], 10, 64)
	if err1 != nil || err2 != nil || err3 != nil || !storable(value) || !storable(now) {
		return refuse()
	}
	q.After, q.now = &Place{value, run}, time.UnixMicro(now).UTC()
	return nil
}

// storable tells whether every store can hold a number of microseconds as a time and as a duration:
// Postgres begins in the year 4713 BC. The zero time.Time, which a cursor without relative times
// has, is one.
func storable(micros int64) bool {
	const limit = 6_000 * 365 * 24 * int64(time.Hour/time.Microsecond)
	return micros >= -limit && micros <= limit
}

// Place returns where a run stands, false if it has no place in the order.
func (o Order) Place(run *journal.Run) (Place, bool) {
	p := Place{Run: run.ID}
	switch o.By {
	case FieldClosed:
		p.Value = run.ClosedAt.UnixMicro()
		return p, !run.ClosedAt.IsZero()
	case FieldDuration:
		d, ok := Duration(run)
		p.Value = d.Microseconds()
		return p, ok
	}
	return p, true
}

// Compare says which of two places comes first in the order.
func (o Order) Compare(a, b Place) int {
	n := cmp.Or(cmp.Compare(a.Value, b.Value), bytes.Compare(a.Run[:], b.Run[:]))
	if o.Ascending {
		return n
	}
	return -n
}

// Selects tells whether a run is one of the query's and stands behind its cursor.
func (q *Query) Selects(run *journal.Run) bool {
	p, ok := q.Order.Place(run)
	return ok && (q.After == nil || q.Order.Compare(*q.After, p) < 0) && Match(q.Where, run)
}
