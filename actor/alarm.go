package actor

import "time"

// alarm is one local timer. Setting it again replaces what was set before. A call that is under way
// when the alarm is stopped or set again still happens, so it must be harmless if late.
type alarm struct{ timer *time.Timer }

func (a *alarm) set(d time.Duration, ring func()) {
	a.stop()
	a.timer = time.AfterFunc(d, ring)
}

func (a *alarm) stop() {
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
}
