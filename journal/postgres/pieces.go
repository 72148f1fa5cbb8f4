package postgres

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// pieces is how many rows a statement of a store writes at most, of what one turn does to others.
//
// A server may end a statement after a time, for the role or the database. A turn that starts ten
// thousand children is then ended again and again, if it is one statement, and never written. A
// transaction of several statements is not: each has the time to itself. So such a turn is written
// in pieces, and each statement that a server has ended makes them smaller, until they fit. After a
// while it is tried with large ones again, because a server may have been slow for a moment.
type pieces struct {
	small  atomic.Int64 // rows of a piece; 0 for statementRowsMax
	shrunk atomic.Int64 // when they became smaller, in Unix nanoseconds
}

func (p *pieces) rows() int {
	small := p.small.Load()
	if small == 0 || time.Since(time.Unix(0, p.shrunk.Load())) > piecesForget {
		return statementRowsMax
	}
	return int(small)
}

// note makes pieces smaller if a server has ended a statement of a transaction with so many rows to
// write. With few it was not their number.
func (p *pieces) note(err error, rows int) {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	if rows = min(rows, p.rows()); ok && pe.Code == "57014" && rows > statementRowsMin {
		p.small.Store(int64(max(rows/4, statementRowsMin)))
		p.shrunk.Store(time.Now().UnixNano())
	}
}

// in is inChunks for pieces with so many rows at most.
func (p *pieces) in(n int, size func(i int) int, fn func(from, to int) error) error {
	for from, rows := 0, p.rows(); from < n; from += rows {
		to := min(from+rows, n)
		err := inChunks(to-from, func(i int) int { return size(from + i) }, func(a, b int) error { return fn(from+a, from+b) })
		if err != nil {
			return err
		}
	}
	return nil
}

// small is the size of what has no payload.
func small(int) int { return 0 }
