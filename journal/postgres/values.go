package postgres

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
)

// id turns a run's id into the driver's type, which every protocol mode knows.
func id(r journal.RunID) pgtype.UUID { return pgtype.UUID{Bytes: r, Valid: true} }

// text stores the empty string as null, which costs no bytes.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// number stores zero as null.
func number[T ~int16 | ~int32 | ~int64](n T) *T {
	if n == 0 {
		return nil
	}
	return &n
}

// data stores no bytes as null.
func data(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// instant stores the zero time as null.
func instant(t time.Time) pgtype.Timestamptz {
	return pgtype.Timestamptz{Time: t, Valid: !t.IsZero()}
}

// moment reads a time; null and infinity are the zero time.
func moment(t pgtype.Timestamptz) time.Time {
	if !t.Valid || t.InfinityModifier != pgtype.Finite {
		return time.Time{}
	}
	return t.Time.UTC()
}
