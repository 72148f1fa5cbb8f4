package journal

import "time"

// Observer is told about every call of the store. Any field may be nil; the callbacks run on the
// caller's goroutine, so they must be quick. A call that is repeated, because the store was
// unavailable, is reported each time.
type Observer struct {
	// Call reports a finished call: its verb ("start", "send", "claim", "commit", "load", …), how
	// many members it had, how many of those came back with an error of their own, how long it
	// took.
	Call func(verb string, members, refused int, took time.Duration, err error)
}
