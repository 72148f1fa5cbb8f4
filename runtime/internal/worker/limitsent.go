package worker

import (
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// limitSent is a round on its way. The limiter's lock guards it.
type limitSent struct {
	round driver.LimitRound
	wants []*limitEntry // of the round
	over  bool          // it was answered, or has failed: nothing is added any more

	pulled int // wants that were held back before
}

// fill adds what there is to send to a round, as far as it has room: of limits of the given names,
// which are sorted, or of all for nil. Releases come first: they make room. The caller holds the
// lock.
func (l *limiter) fill(s *limitSent, names []string) {
	in := func(needs []journal.LimitNeed) bool { return allNamed(needs, names) }
	r := &s.round
	room := journal.LimitRoundMax - r.Size()
	r.Releases, l.releases = move(r.Releases, l.releases, &room, func(e driver.LimitRelease) bool { return in(e.Needs) })
	if r.Compare {
		return
	}
	pulled := l.back.pull(names)
	s.pulled += len(pulled)
	l.fresh = append(l.fresh, pulled...)
	l.fresh = slices.DeleteFunc(l.fresh, func(e *limitEntry) bool { return l.list[e.want.ID] != e || e.sent })
	had := len(s.wants)
	s.wants, l.fresh = move(s.wants, l.fresh, &room, func(e *limitEntry) bool { return in(e.want.Needs) })
	for _, e := range s.wants[had:] {
		e.sent = true
		w := e.want.Want
		w.Held = e.again
		r.Wants = append(r.Wants, w)
	}
	for k := range l.look {
		if room == 0 {
			break
		}
		if in([]journal.LimitNeed{{Name: k.Name}}) {
			r.Look = append(r.Look, k)
			delete(l.look, k)
			room--
		}
	}
}

// move moves as much of a list as fits behind another one, in its order: all that ok says.
func move[T any](to, from []T, room *int, ok func(T) bool) (moved, left []T) {
	for i, e := range from {
		if *room == 0 {
			return to, append(left, from[i:]...)
		}
		if ok(e) {
			to = append(to, e)
			*room--
		} else {
			left = append(left, e)
		}
	}
	return to, left
}

// end has the store told that a want has ended. The caller holds the lock.
func (l *limiter) end(id int64, needs []journal.LimitNeed) {
	l.releases = append(l.releases, driver.LimitRelease{ID: id, Needs: needs})
	l.poke()
}

// unused is what to settle for a want whose attempt does not begin.
func unused(needs []journal.LimitNeed) []journal.LimitNeed {
	none := slices.Clone(needs)
	for i := range none {
		none[i].Cost = 0
	}
	return none
}

// poke wakes the loop. It does not block.
func (l *limiter) poke() { wakeUp(l.wake) }

// wakeUp puts a token into a channel that has room for one.
func wakeUp(loop chan struct{}) {
	select {
	case loop <- struct{}{}:
	default:
	}
}

// nextDue is how long nothing is due.
func (l *limiter) nextDue() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	wait := time.Hour
	for _, at := range l.due {
		wait = min(wait, max(at.Sub(l.now()), limitDueMin))
	}
	return wait
}
