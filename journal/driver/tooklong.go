package driver

import "errors"

// ErrTookLong is what a store says of a call that it, or its server, has given up because it took
// too long: nothing has moved for a while, or a limit of the server's has ended a statement. It
// comes with journal.ErrUnavailable, as the call may have happened or not. But to repeat the call
// as it was would take as long again: a caller divides a call of several members.
var ErrTookLong = errors.New("the call took too long")
