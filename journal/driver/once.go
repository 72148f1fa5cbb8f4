package driver

import (
	"errors"

	"github.com/reprise-run/reprise/journal"
)

// Once is what several callers try on a run, and one of them is to do.
//
// A caller whose node was declared dead may not know that yet, and its successor does the same. No
// look at the run before the action keeps them apart: an operator may have undone the first one's
// action by the time of the second, so that the run does not show it. The audit does (J12). A store
// looks into it in the transaction of the action, under the lock under which the row of the audit
// is written.
type Once struct {
	Mark  string // begins the reason of each of them, and of nothing else
	After int64  // the number of an entry of the audit that is older than all of them
}

// ErrActed is the answer of a store to an action that another caller has carried out: the audit has
// an entry of its run and verb, behind Once.After, whose reason begins with Once.Mark. The store
// says so whatever has become of the run, and changes nothing.
var ErrActed = errors.New("it is done already")

// ownCancelKey begins the keys of requests to cancel that are not journal.CancelKey.
const ownCancelKey = journal.CancelKey + " "

// CancelKey is the key of the request to cancel that all callers send. It stays taken when an
// operator lets the run go on without the request ([FreedKey]), so that the callers cancel the
// run once. A request under another key may come beside it, and changes nothing.
func (o *Once) CancelKey() string { return ownCancelKey + o.Mark }
