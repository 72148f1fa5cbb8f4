package driver

import "errors"

// ErrLasting is in the error of a call, beside journal.ErrUnavailable, that a store refuses for as
// long as nobody mends it: a right is missing, or the tables are. Nodes wait for that, as for any
// outage. Whoever makes a single call hears of it at once, since it may be their mistake.
var ErrLasting = errors.New("until somebody mends it")
