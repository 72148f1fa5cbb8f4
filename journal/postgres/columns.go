package postgres

import (
	"encoding/binary"
	"math"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
)

// columns are the parameters of a statement that unnests arrays, one column each, in the binary
// form of the protocol.
//
// They exist because commits are the store's hottest path and the driver encodes slices value by
// value through interfaces: that was half of the bytes and a quarter of the objects that a step
// allocated. Here a value is appended to a buffer that is used again by the next batch, so a batch
// allocates nothing once the buffers have grown. The price is that the wire format stands here;
// TestColumns compares it with what the server makes of it.
//
// A columns value belongs to one call at a time. The buffers are handed to the connection as they
// are, so it must not be filled again before the exchange that has them was sent.
type columns struct {
	list    []column
	values  [][]byte
	formats []int16
}

// newColumns returns columns of the given element types. Before each use every column must hold the
// same number of values, or only nulls: unnest fills a shorter array up with nulls, which would
// shift no value but hide a missing one.
func newColumns(types ...uint32) *columns {
	c := &columns{list: make([]column, len(types)), values: make([][]byte, len(types)), formats: make([]int16, len(types))}
	for i, oid := range types {
		c.list[i].oid, c.formats[i] = oid, pgx.BinaryFormatCode
	}
	c.reset()
	return c
}

func (c *columns) reset() {
	for i := range c.list {
		c.list[i].reset()
	}
}

// bytes is how much memory the columns hold, filled or not.
func (c *columns) bytes() (n int) {
	for i := range c.list {
		n += cap(c.list[i].buf)
	}
	return n
}

// release keeps the memory for another batch, unless this one was unusually large: one batch of
// large payloads must not pin its megabytes for the life of the process.
func (c *columns) release(pool *sync.Pool) {
	if c.bytes() <= batchKeptBytesMax {
		c.reset()
		pool.Put(c)
	}
}

// params returns the arrays, which are valid until the next reset.
func (c *columns) params() [][]byte {
	for i := range c.list {
		c.values[i] = c.list[i].done()
	}
	return c.values
}

// column is one array. https://www.postgresql.org/docs/15/protocol-overview.html says that binary
// formats are the server's array_recv and its like: dimensions, whether there are nulls, the
// element type, for each dimension its length and lower bound, then each element after its length.
// Integers are big-endian.
//
// The head is written last, by done, when the numbers of elements and nulls are known; reset leaves
// room for it.
type column struct {
	oid   uint32
	buf   []byte
	count int
	nulls int
}

const columnHead = 20 // bytes before the elements of an array of one dimension

func (c *column) reset() {
	c.buf = append(c.buf[:0], make([]byte, columnHead)...)
	c.count, c.nulls = 0, 0
}

// done returns the array, which is valid until reset. One that holds only nulls is sent as null:
// the server skips it, and unnest fills it up with nulls beside longer ones.
func (c *column) done() []byte {
	if c.nulls == c.count {
		return nil
	}
	head := c.buf[:0]
	head = binary.BigEndian.AppendUint32(head, 1)
	head = binary.BigEndian.AppendUint32(head, uint32(min(c.nulls, 1)))
	head = binary.BigEndian.AppendUint32(head, c.oid)
	head = binary.BigEndian.AppendUint32(head, uint32(c.count))
	binary.BigEndian.AppendUint32(head, 1)
	return c.buf
}

func (c *column) null() {
	c.buf = binary.BigEndian.AppendUint32(c.buf, math.MaxUint32) // -1
	c.count++
	c.nulls++
}

func (c *column) size(n int) {
	c.buf = binary.BigEndian.AppendUint32(c.buf, uint32(n))
	c.count++
}

func (c *column) uuid(id journal.RunID) {
	c.size(len(id))
	c.buf = append(c.buf, id[:]...)
}

func (c *column) int16(v int16) {
	c.size(2)
	c.buf = binary.BigEndian.AppendUint16(c.buf, uint16(v))
}

func (c *column) int32(v int32) {
	c.size(4)
	c.buf = binary.BigEndian.AppendUint32(c.buf, uint32(v))
}

func (c *column) int64(v int64) {
	c.size(8)
	c.buf = binary.BigEndian.AppendUint64(c.buf, uint64(v))
}

// nullInt16, nullInt32 and nullInt64 store zero as null: the columns that use them have no
// meaningful zero.
func (c *column) nullInt16(v int16) {
	if v == 0 {
		c.null()
		return
	}
	c.int16(v)
}

func (c *column) nullInt32(v int32) {
	if v == 0 {
		c.null()
		return
	}
	c.int32(v)
}

func (c *column) nullInt64(v int64) {
	if v == 0 {
		c.null()
		return
	}
	c.int64(v)
}

// optionalInt32 and optionalInt64 are for columns whose zero means something.
func (c *column) optionalInt32(v *int32) {
	if v == nil {
		c.null()
		return
	}
	c.int32(*v)
}

func (c *column) optionalInt64(v *int64) {
	if v == nil {
		c.null()
		return
	}
	c.int64(*v)
}

func (c *column) bool(v bool) {
	c.size(1)
	if v {
		c.buf = append(c.buf, 1)
		return
	}
	c.buf = append(c.buf, 0)
}

// nullBool stores false as null.
func (c *column) nullBool(v bool) {
	if !v {
		c.null()
		return
	}
	c.bool(v)
}

func (c *column) text(s string) {
	c.size(len(s))
	c.buf = append(c.buf, s...)
}

// nullText stores the empty string as null, which costs a bit instead of a header in the row.
func (c *column) nullText(s string) {
	if s == "" {
		c.null()
		return
	}
	c.text(s)
}

// nullBytes stores no bytes as null. A payload of no bytes is read back as nil.
func (c *column) nullBytes(b []byte) {
	if len(b) == 0 {
		c.null()
		return
	}
	c.size(len(b))
	c.buf = append(c.buf, b...)
}

// nullTime stores the zero time as null.
func (c *column) nullTime(t time.Time) {
	if t.IsZero() {
		c.null()
		return
	}
	c.int64(t.UnixMicro() - epochMicros)
}

// epochMicros is the server's zero of time, the first of January 2000 UTC, in microseconds of Unix
// time.
const epochMicros = 946_684_800_000_000

// What a row of an answer holds, in binary form.

func readInt64(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }

func readTime(b []byte) time.Time { return time.UnixMicro(readInt64(b) + epochMicros).UTC() }

// The element types of columns.
const (
	uuidColumn    = pgtype.UUIDOID
	int16Column   = pgtype.Int2OID
	int32Column   = pgtype.Int4OID
	int64Column   = pgtype.Int8OID
	textColumn    = pgtype.TextOID
	bytesColumn   = pgtype.ByteaOID
	instantColumn = pgtype.TimestamptzOID
)
