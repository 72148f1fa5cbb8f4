package postgres

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// uuidArg turns a run's id into the driver's type, which every protocol mode knows.
func uuidArg(r journal.RunID) pgtype.UUID { return pgtype.UUID{Bytes: r, Valid: true} }

// nullText stores the empty string as null, which costs a bit of the row.
func nullText(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// nullInt stores zero as null.
func nullInt[T ~int16 | ~int32 | ~int64](n T) *T {
	if n == 0 {
		return nil
	}
	return &n
}

// nullBytes stores no bytes as null.
func nullBytes(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// nullTime stores the zero time as null.
func nullTime(t time.Time) pgtype.Timestamptz {
	return pgtype.Timestamptz{Time: t, Valid: !t.IsZero()}
}

// timeOf reads a time; null and infinity are the zero time.
func timeOf(t pgtype.Timestamptz) time.Time {
	if !t.Valid || t.InfinityModifier != pgtype.Finite {
		return time.Time{}
	}
	return t.Time.UTC()
}

// finite refuses a time that no clock has told.
func finite(t pgtype.Timestamptz) error {
	if t.Valid && t.InfinityModifier == pgtype.Finite {
		return nil
	}
	return fmt.Errorf("%w: a time that is null or infinite", driver.ErrMalformed)
}

// intOf reads a number; null is zero.
func intOf[T, N ~int16 | ~int32 | ~int64](n *N) T {
	if n == nil {
		return 0
	}
	return T(*n)
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// runIDs are run ids as an array of the driver's type.
func runIDs(runs []journal.RunID) []pgtype.UUID {
	ids := make([]pgtype.UUID, len(runs))
	for i, run := range runs {
		ids[i] = uuidArg(run)
	}
	return ids
}
