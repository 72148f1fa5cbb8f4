package memory

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// awaitLimits makes a run wait for its limits, from a time on. Its task must be dequeued.
func awaitLimits(db *database, r *record, since time.Time) {
	l := &db.limits
	l.runs.last++
	id := l.runs.last
	c := &limitClaim{Want: driver.Want{ID: id, Run: r.run.ID, Priority: r.run.Priority, Since: since, Needs: slices.Clone(r.run.Limits), Route: r.route()}}
	for _, n := range c.Needs { // as long as no round has ranked it
		ageing := journal.LimitAgeingDefault
		if row := l.bounds(driver.LimitKey{Name: n.Name, Key: n.Key}); row != nil {
			ageing = row.Ageing
		}
		c.ranks = append(c.ranks, since.UnixMicro()+int64(c.Priority)*ageing.Microseconds())
	}
	l.claims[driver.LimitGrant{ID: id}] = c
	l.runs.of[r.run.ID], l.runs.news[id] = id, true
	r.task.State, r.task.VisibleAt = journal.Limited, time.Time{}
}

// askForMore makes a free run that has not begun wait for limits instead of those that it has. One
// that is paused stays so.
func askForMore(db *database, r *record, needs []journal.LimitNeed, now time.Time) {
	state, since := r.task.State, r.run.StartAt
	if since.After(now) { // a message has come before its time
		since = now
	}
	db.dequeue(r)
	db.limits.endLimits(r.run.ID)
	r.run.Limits = slices.Clone(needs)
	if awaitLimits(db, r, since); state.OnHold() {
		r.task.State = state
		db.limits.pause(r.run.ID, true)
	}
	db.enqueue(r, now)
}

// reroute lets a run wait in another set, because it has another version. Its place is by the same
// time.
func (l *limits) reroute(db *database, r *record) {
	since, state := l.claims[driver.LimitGrant{ID: l.runs.of[r.run.ID]}].Since, r.task.State
	l.endLimits(r.run.ID)
	if awaitLimits(db, r, since); state.OnHold() {
		r.task.State = state
		l.pause(r.run.ID, true)
	}
}

// endLimits ends what a run holds that closes. The next round gives it to others.
func (l *limits) endLimits(run journal.RunID) {
	if id, ok := l.runs.of[run]; ok {
		l.claims[driver.LimitGrant{ID: id}].ended = true
		l.runs.news[id] = true
		delete(l.runs.of, run)
	}
}

// heed takes a run that waits out of its lines if it is paused now, and lets it wait on if it is
// not.
func (l *limits) heed(r *record) {
	if r.task.Owner != 0 || !l.awaits(r.run.ID) {
		return
	}
	if !r.task.State.OnHold() {
		r.task.State, r.task.VisibleAt = journal.Limited, time.Time{}
	}
	l.pause(r.run.ID, r.task.State.OnHold())
}

// pause takes a run that waits out of its lines, by the next round, or lets it come back.
func (l *limits) pause(run journal.RunID, paused bool) {
	if !l.awaits(run) {
		return
	}
	id := l.runs.of[run]
	c := l.claims[driver.LimitGrant{ID: id}]
	if c.paused = paused; c.paused == c.counted {
		l.runs.news[id] = true
	} else {
		delete(l.runs.news, id)
	}
}

// setAside takes a claim of a run out of its lines.
func (l *limits) setAside(id int64) {
	g := driver.LimitGrant{ID: id}
	c := l.claims[g]
	c.counted = false
	for i, n := range c.Needs {
		l.unline(driver.LimitKey{Name: n.Name, Key: n.Key}, limitPlace{c.ranks[i], g})
	}
	delete(l.runs.news, id)
}

// move gives a run that waits the place of another priority.
func (l *limits) move(run journal.RunID, priority int16) {
	if !l.awaits(run) {
		return
	}
	g := driver.LimitGrant{ID: l.runs.of[run]}
	c := l.claims[g]
	since, was := c.Since.UnixMicro(), c.ranks
	c.ranks = make([]int64, len(was))
	for i, n := range c.Needs {
		c.ranks[i] = since + (was[i]-since)/int64(c.Priority)*int64(priority)
		if c.counted {
			l.unline(driver.LimitKey{Name: n.Name, Key: n.Key}, limitPlace{was[i], g})
			l.sets.lower(setOfLine{c.set, driver.LimitKey{Name: n.Name, Key: n.Key}}, c.ranks[i])
		}
	}
	if c.Priority = priority; c.counted {
		l.enter(g, c, false, time.Time{})
	}
}

// awaits tells whether a run waits for its limits.
func (l *limits) awaits(run journal.RunID) bool {
	id, ok := l.runs.of[run]
	return ok && l.claims[driver.LimitGrant{ID: id}].granted.IsZero()
}

// News implements driver.LimitRows.
func (l *limits) News(now time.Time, max int) (list []driver.LimitNews, err error) {
	for id := range l.runs.news {
		if c := l.claims[driver.LimitGrant{ID: id}]; !c.Since.After(now) {
			list = append(list, driver.LimitNews{Want: c.Want, Set: c.set, Counted: c.counted, Ended: c.ended, Paused: c.paused, Granted: c.granted})
		}
	}
	slices.SortFunc(list, func(a, b driver.LimitNews) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	return list[:min(max, len(list))], nil
}

// LooksAt implements driver.LimitRows.
func (l *limits) LooksAt(now time.Time, max int) (keys []driver.LimitKey, err error) {
	for k, line := range l.lines {
		if line.LookAt != 0 && line.LookAt <= now.UnixMicro() {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b driver.LimitKey) int {
		return cmp.Or(cmp.Compare(l.lines[a].LookAt, l.lines[b].LookAt), driver.CompareLimitKeys(a, b))
	})
	return keys[:min(max, len(keys))], nil
}

// NextNews implements driver.LimitRows.
func (l *limits) NextNews(now time.Time) (next time.Time, err error) {
	add := func(at time.Time) {
		if at.After(now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	for id := range l.runs.news {
		add(l.claims[driver.LimitGrant{ID: id}].Since)
	}
	for _, line := range l.lines {
		if line.LookAt < driver.LookNever {
			add(time.UnixMicro(line.LookAt).UTC())
		}
	}
	return next, nil
}

// limitRound carries a round out. Runs that have got their limits may begin, unless they are on
// hold.
func limitRound(db *database, node journal.NodeID, round *driver.LimitRound, now time.Time) (driver.LimitAnswer, error) {
	var live []journal.Node
	for _, n := range db.nodes {
		if !n.lost && n.ExpiresAt.After(now) {
			live = append(live, n.Node)
		}
	}
	db.limits.halts = driver.LimitHalts(slices.Collect(maps.Values(db.pauses)), live)
	a, err := driver.DoLimitRound(&db.limits, node, round, now)
	for _, b := range db.limits.runs.begun {
		beginLimited(db, b.Run, now)
	}
	db.limits.runs.begun = nil
	return a, err
}

// beginLimited lets a run begin that has waited for its limits.
func beginLimited(db *database, run journal.RunID, now time.Time) {
	r := db.runs[run]
	if r == nil || !r.open || r.task.Owner != 0 {
		return
	}
	db.dequeue(r)
	if r.task.VisibleAt = now; r.task.State == journal.Limited {
		r.task.State = journal.Ready
	}
	db.enqueue(r, now)
}

// lookAgain makes lines of a limit worth a look, if runs wait in them: the limit has changed.
func (l *limits) lookAgain(name string, now time.Time) {
	for k, line := range l.lines {
		if k.Name == name && line.LookAt != 0 {
			line.LookAt = now.UnixMicro()
		}
	}
}
