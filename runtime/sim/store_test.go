package sim

import (
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
)

// mutation puts something below a process's connection: the store itself, or one that breaks a
// guarantee.
type mutation func(w *world, s store) store

// store is what a mutation can change.
type store interface {
	driver.Store
	driver.TxStore
}

// faithful changes nothing.
func faithful(_ *world, s store) store { return s }

var _ store = (*memory.Store)(nil)
