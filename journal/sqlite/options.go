package sqlite

import (
	"fmt"
	"time"
)

// Options of a Store. The zero value means the defaults. They are not kept in the file, so each
// opening may have others.
type Options struct {
	// SyncNormal acknowledges commits that the operating system has, but perhaps not yet the disk
	// (synchronous=NORMAL). A killed process loses nothing; a power cut may lose the last commits.
	// By default every commit is on disk.
	SyncNormal bool
	// TxMax is how long the transaction of a step may hold the database, from its first statement
	// on. Then it is rolled back and the attempt fails, because everybody waits for it. Default 30
	// s.
	TxMax time.Duration
	// Readers is the number of connections for loads and lists. Listings and aggregates have half
	// of them, so that loads do not wait for them; of one they have that. Default 4.
	Readers int
	// ReadOnly opens an existing file for reading alone, beside the process that has it: nothing is
	// locked and nothing is written, no table is made or changed, and calls that would write are
	// refused with [ErrReadOnly]. The tables may be those of another release, see [Applied].
	ReadOnly bool
	// Shared lets the journal's tables, which begin with "reprise_", be added to a database that
	// holds tables of an application already. Its application_id stays as it is.
	Shared bool
}

// withDefaults returns a copy in which what is not set has its default. It does not change the
// caller's.
func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.TxMax <= 0 {
		c.TxMax = txMaxDefault
	}
	if c.Readers <= 0 {
		c.Readers = readersDefault
	}
	c.Readers = min(c.Readers, readersMax)
	return c
}

// refuseWrite is the error of a call that would write, of a store that is for reading alone.
func (o *Options) refuseWrite(path string) error {
	if o.ReadOnly {
		return fmt.Errorf("%s: %w", path, ErrReadOnly)
	}
	return nil
}
