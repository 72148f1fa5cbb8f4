package sim

import (
	"time"

	"github.com/reprise-run/reprise/journal"
)

// checkTimers: no timer fires before its time, by the store's clock (J9). A node estimates that
// clock between two stamps, so it may be early by what its own gains on it meanwhile.
func checkTimers(f *finder) {
	slack := time.Duration(max(-f.plan.Clock.Gain, 0)) * 20 * time.Microsecond // of twenty seconds
	f.eachTimer(func(r *settled, ev *journal.Event, due, at time.Time) {
		if due.After(at.Add(slack)) {
			f.breaks("%s: the timer of event %d is due in %s", r, ev.Seq, due.Sub(at))
		}
	})
}

// issued lists the commands of a generation, copied ones among them.
func (p part) issued() (list []journal.Issued) {
	for _, ev := range p.events() {
		list = append(list, ev.Issued...)
	}
	return list
}

// eachTimer calls fn for every timer that fired, with when it was due and when that was written.
func (f *finder) eachTimer(fn func(r *settled, ev *journal.Event, due, at time.Time)) {
	for _, r := range f.runs {
		for _, c := range f.tape.commitsOf(r.id) {
			issued := part{r, int(c.Generation) - 1}.issued()
			for i := range c.Events {
				if ev := &c.Events[i]; int(ev.Cmd) <= len(issued) && ev.Kind == journal.TimerFired {
					fn(r, ev, issued[ev.Cmd-1].Due, c.at)
				}
			}
		}
	}
}
