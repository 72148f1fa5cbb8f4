package journal

import (
	"time"
)

// Node is one process incarnation.
type Node struct {
	ID        NodeID
	Name      string // for people; need not be unique
	Routes    []Route
	Lease     time.Duration
	StartedAt time.Time
	ExpiresAt time.Time
}
