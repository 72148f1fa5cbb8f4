package driver

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reprise-run/reprise/journal"
)

const (
	// outageAfter is the time after which a store that is away is reported. A lost connection is
	// made up for within it, and is nothing that an operator has to know.
	outageAfter = time.Second
	// outageForget is the time after which a verb is forgotten that has failed and is not called
	// any more. Calls that the engine repeats come about once a second if they fail at once. One
	// whose packets nobody answers fails after the time for a connection and that for a silent
	// call, together forty seconds in postgres, so this is longer than both.
	outageForget = 45 * time.Second
)

// outage says in the log when a store has been away for a while, with the cause, and when it is
// back, once each: calls are repeated meanwhile, and nobody else says a word.
//
// Verbs are kept apart. A standby answers what only reads and refuses the rest, so an answer says
// nothing about other verbs; the outage is over when none is left that fails.
type outage struct {
	log *slog.Logger
	any atomic.Bool // whether failing is not empty: a look that takes no lock

	mu      sync.Mutex
	failing map[string]*failure // by verb
	began   time.Time           // of the outage
	told    bool                // whether its beginning is in the log
}

// failure is the tries of a verb that have failed in a row.
type failure struct {
	since, last time.Time
	err         error
}

// note takes note of how a call has ended. A call that its caller gave up says nothing.
func (o *outage) note(verb string, err error) {
	switch {
	case errors.Is(err, journal.ErrUnavailable):
		o.failed(verb, err, time.Now())
	case err == nil && o.any.Load():
		o.answered(verb, time.Now())
	}
}

func (o *outage) failed(verb string, err error, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.failing[verb]
	if f == nil || now.Sub(f.last) > outageForget {
		f = &failure{since: now}
		if o.failing[verb] = f; !o.any.Swap(true) {
			o.began = now
		}
	}
	f.last, f.err = now, err
	if !o.told && now.Sub(f.since) >= outageAfter {
		o.told = true
		o.log.Warn("the store is unavailable; calls are repeated until it answers", "verb", verb, "for", now.Sub(f.since), "error", err)
	}
}

func (o *outage) answered(verb string, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for v, f := range o.failing {
		if v == verb || now.Sub(f.last) > outageForget {
			delete(o.failing, v)
		}
	}
	if len(o.failing) > 0 {
		return
	}
	o.any.Store(false)
	if o.told {
		o.told = false
		o.log.Info("the store answers again", "away", now.Sub(o.began))
	}
}

// cause returns the newest error of a verb that fails now, else nil.
func (o *outage) cause(verb string) error {
	if !o.any.Load() {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if f := o.failing[verb]; f != nil && time.Since(f.last) <= outageForget {
		return f.err
	}
	return nil
}

// Away tells whether the store does not answer calls of some verb now.
func (j *Journal) Away() bool { return j.outage.any.Load() }

// Explain adds to the error of a context that has ended why the store has not answered meanwhile,
// if it is known to be away for calls of that verb.
func (j *Journal) Explain(verb string, ended error) error {
	if cause := j.outage.cause(verb); cause != nil && !errors.Is(ended, journal.ErrUnavailable) {
		return fmt.Errorf("%w: %w", ended, cause)
	}
	return ended
}
