package calendar

import (
	"fmt"
	"hash/fnv"
	"time"
)

// Zone is where the wall clock of the slots hangs.
func (t *Times) Zone() *time.Location { return t.loc }

// Due is when something with the given name is to happen for a slot: at the slot, or later by the
// jitter, but ahead of the next slot. It depends on the name and the slot alone, so every process
// finds the same.
func (t *Times) Due(name string, slot time.Time) time.Time {
	jitter := time.Duration(t.spec.Jitter)
	if jitter == 0 {
		return slot
	}
	if next, some := t.Next(slot); some {
		jitter = min(jitter, next.At.Sub(slot))
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%d", name, slot.Unix())
	mixed := h.Sum64()
	mixed ^= mixed >> 32 // the low bits of the sum follow those of the slot
	return slot.Add(time.Duration(mixed % uint64(jitter))).Truncate(time.Microsecond)
}
