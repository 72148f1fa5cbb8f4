package sim

import (
	"time"

	"github.com/reprise-run/reprise/journal"
)

// checkLate: when nothing is wrong any more, timers fire and messages are taken soon (J6), as long as
// some node has a place for their run (see withRoom). A lost wake-up that something else makes good
// shows here. A rewind brings again what was due long before, so its time counts from there.
func checkLate(f *finder) {
	quiet, late := f.quietFrom(), f.plan.lateMax()
	f.eachTimer(func(r *settled, ev *journal.Event, due, at time.Time) {
		if !r.isLimited() && due.After(quiet) && at.Sub(due) > late && f.withRoom(due, at) > late {
			f.breaks("%s: the timer of event %d fired %s late, and nodes had room for %s of it", r, ev.Seq, at.Sub(due), f.withRoom(due, at))
		}
	})
	for _, r := range f.runs {
		known := map[journal.InboxSeq]bool{} // what is carried over is taken twice
		for _, c := range f.tape.commitsOf(r.id) {
			for i := range c.Events {
				number := c.Events[i].Inbox
				came := f.tape.arrived[message{r.id, number}]
				if known[number] {
					continue
				}
				known[number] = true
				came = later(came, f.tape.backBefore(r.id, c.place))
				if !r.isLimited() && came.After(quiet) && c.at.Sub(came) > late && f.withRoom(came, c.at) > late {
					f.breaks("%s: message %d was taken %s late, and nodes had room for %s of it", r, number, c.at.Sub(came), f.withRoom(came, c.at))
				}
			}
		}
	}
}
