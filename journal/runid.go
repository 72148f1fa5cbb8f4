package journal

import (
	"fmt"

	"github.com/google/uuid"
)

// RunID names one execution of a workflow. It is a UUIDv7, so ids sort by start time.
type RunID [16]byte

// NewRunID returns a fresh id.
func NewRunID() RunID { return RunID(uuid.Must(uuid.NewV7())) }

// ParseRunID reads the canonical text form.
func ParseRunID(s string) (RunID, error) {
	id, err := uuid.Parse(s)
	if err != nil {
		return RunID{}, fmt.Errorf("run id %q: %w: it must be a UUID, as Run.ID gives it; Client.FindKey finds the id of a run by its key", s, ErrInvalid)
	}
	return RunID(id), nil
}

// String returns the canonical text form.
func (id RunID) String() string { return uuid.UUID(id).String() }

// IsZero tells whether the id names no run.
func (id RunID) IsZero() bool { return id == RunID{} }

// MarshalText implements encoding.TextMarshaler.
func (id RunID) MarshalText() ([]byte, error) { return uuid.UUID(id).MarshalText() }

// UnmarshalText implements encoding.TextUnmarshaler.
func (id *RunID) UnmarshalText(b []byte) error { return (*uuid.UUID)(id).UnmarshalText(b) }
