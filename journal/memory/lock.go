package memory

// lock is the mutex of a database, as a channel. The difference is for bubbles of testing/synctest:
// a goroutine that waits for a sync.Mutex stops the bubble's clock, one that waits for a channel
// does not. So a function of [Effects.Try] may wait for the clock, as a driver does that tries
// again while its database is busy: those who meanwhile wait for the lock do not keep it waiting
// for ever.
type lock chan struct{}

func newLock() lock { return make(lock, 1) }

// Lock implements sync.Locker.
func (l lock) Lock() { l <- struct{}{} }

// Unlock implements sync.Locker.
func (l lock) Unlock() { <-l }
