package sqlite

import (
	sqldriver "database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// row is a row of an answer: int64, string, []byte, or nil for null. The driver's values are read
// without reflection; a column of another type than expected reads as null would, which the tests
// of stored values would show.
type row []sqldriver.Value

// int reads a number; null is 0.
func (r row) int(i int) int64 {
	n, _ := r[i].(int64)
	return n
}

// int32 and int16 read a number for a smaller type. SQLite takes any number in any column: what has
// no place there stays beyond what has a meaning, instead of becoming another number.
func (r row) int32(i int) int32 { return int32(min(max(r.int(i), math.MinInt32), math.MaxInt32)) }

func (r row) int16(i int) int16 { return int16(min(max(r.int(i), math.MinInt16), math.MaxInt16)) }

func (r row) bool(i int) bool { return r.int(i) != 0 }

func (r row) null(i int) bool { return r[i] == nil }

// text reads a text; null is empty.
func (r row) text(i int) string {
	s, _ := r[i].(string)
	return s
}

// data reads bytes; null is nil.
func (r row) data(i int) []byte {
	b, _ := r[i].([]byte)
	return b
}

func (r row) id(i int) (run journal.RunID) {
	copy(run[:], r.data(i))
	return run
}

// time reads microseconds of Unix time, in UTC like everything that the journal tells; null is the
// zero time.
func (r row) time(i int) time.Time {
	if r[i] == nil {
		return time.Time{}
	}
	return time.UnixMicro(r.int(i)).UTC()
}

func (r row) payload(encoding, data int) journal.Payload {
	return journal.Payload{Encoding: r.text(encoding), Data: r.data(data)}
}

// uuidArg turns a run's id into what is stored.
func uuidArg(run journal.RunID) any { return run[:] }

// nullText stores the empty string as null, which costs no bytes.
func nullText(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// nullInt stores zero as null: the columns that use it have no meaningful zero.
func nullInt[T ~int32 | ~int64](n T) any {
	if n == 0 {
		return nil
	}
	return int64(n)
}

// nullBytes stores no bytes as null.
func nullBytes(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

// nullTime stores the zero time as null: a time that is not there, such as that of a run which
// waits for a message alone.
func nullTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// boolArg stores a truth value: SQLite has numbers for them.
func boolArg(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// encodeCarried returns the stored form of the numbers of messages that a generation carries over:
// JSON, as SQLite has no arrays. None is null. Package postgres has an array, so this codec is not
// shared.
func encodeCarried(list []journal.InboxSeq) (any, error) {
	if len(list) == 0 {
		return nil, nil
	}
	b, err := json.Marshal(list)
	return string(b), err
}

// decodeCarried reads what encodeCarried wrote.
func decodeCarried(s string) ([]journal.InboxSeq, error) {
	if s == "" {
		return nil, nil
	}
	var list []journal.InboxSeq
	if err := json.Unmarshal([]byte(s), &list); err != nil {
		return nil, fmt.Errorf("%w: %w", driver.ErrMalformed, err)
	}
	return list, nil
}
