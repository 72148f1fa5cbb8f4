package driver

import (
	"context"
	"errors"
)

// ErrHeld is what an impatient call says of a member that needs a row which somebody else has
// locked: a program whose transaction stays open after a start or a signal in it, an operator's
// console, a backup that is restored. Nothing of the member is written, and it may be submitted
// again as it is.
var ErrHeld = errors.New("a row is locked by another transaction")

type impatientKey struct{}

// Impatient marks calls of Start, Send and Commit whose members shall not wait for each other's
// rows: a member whose row stays locked for longer than a moment gets [ErrHeld], and the others are
// written. A call of a single member may wait all the same, as it holds up nobody, but not many of
// them at once. Calls that are not marked wait for as long as a call may take. A store without such
// locks ignores the mark.
func Impatient(ctx context.Context) context.Context {
	return context.WithValue(ctx, impatientKey{}, true)
}

// IsImpatient tells whether a call is marked.
func IsImpatient(ctx context.Context) bool {
	marked, _ := ctx.Value(impatientKey{}).(bool)
	return marked
}
