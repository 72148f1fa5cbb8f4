package replaytest

import "testing"

// SetEventsMax lets a short history count as long, until the end of the test.
func SetEventsMax(t *testing.T, n int) {
	before := eventsMax
	eventsMax = n
	t.Cleanup(func() { eventsMax = before })
}
