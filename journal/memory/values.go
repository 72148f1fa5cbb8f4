package memory

import (
	"bytes"
	"maps"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// cloneLabels and the others copy what crosses the border between a caller and the database. Empty
// becomes nil, as with drivers that store null for it.
func cloneLabels(labels map[string]string) map[string]string {
	if len(labels) == 0 {
		return nil
	}
	return maps.Clone(labels)
}

// cloned returns a pointer to a copy, or nil.
func cloned[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

// clonePayload copies the bytes of a payload.
func clonePayload(p journal.Payload) journal.Payload {
	if len(p.Data) == 0 {
		p.Data = nil
		return p
	}
	p.Data = bytes.Clone(p.Data)
	return p
}

// instant is how stores keep a time.
func instant(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}
