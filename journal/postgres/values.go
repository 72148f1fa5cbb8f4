package postgres

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
)

var errDecode = errors.New("stored value is malformed")

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

func encodeLabels(labels map[string]string) (*string, error) {
	if len(labels) == 0 {
		return nil, nil
	}
	b, err := json.Marshal(labels)
	if err != nil {
		return nil, err
	}
	s := string(b)
	return &s, nil
}

func decodeLabels(s *string) (map[string]string, error) {
	if s == nil {
		return nil, nil
	}
	var m map[string]string
	if err := json.Unmarshal([]byte(*s), &m); err != nil {
		return nil, fmt.Errorf("labels: %w: %w", errDecode, err)
	}
	return m, nil
}

func encodeAttempts(list []journal.Attempt) ([]byte, error) {
	if len(list) == 0 {
		return nil, nil
	}
	return json.Marshal(list)
}

func decodeAttempts(b []byte) ([]journal.Attempt, error) {
	if len(b) == 0 {
		return nil, nil
	}
	var list []journal.Attempt
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("attempts: %w: %w", errDecode, err)
	}
	return list, nil
}
