package worker

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/reprise-run/reprise/actor"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
	"github.com/reprise-run/reprise/runtime/internal/retry"
)

// limiter is the node's side of limits (J14): it gathers what attempts want and have ended, and
// sends it as rounds, one in flight at a time. So a busy node sends a round for many steps, and one
// without limited steps sends none.
//
// What the node holds is what its attempts hold: list has an entry for each want from the moment it
// is asked for until it is withdrawn or released, and whoever takes it out has to have the store
// told. What the store says beside that is compared: after an answer that was lost, after the store
// may have gone back in time, and now and then. A claim that the store has and the list does not is
// released; one that is executed and that the store does not have is asked for as held, unless an
// operator has released it. The audit says so: a store that went back has lost both or neither.
//
// A round that has failed may happen later, behind the comparison that follows it. So the node
// goes on to compare for reconcileFor, also if it wants nothing any more: it would hold a place
// that nobody uses. Until then its rounds repeat: the store may have a want that it asks for again.
//
// A round waits for the rounds of other nodes that have the locks of its limits. What ends here
// meanwhile of the same limits goes with it, see [driver.LimitRound.Late]: else it would wait for
// the next one, and the place would be empty for as long.
//
// A want is sent only when the node has a slot for it, see [limitBack]: a claim that the node holds
// and cannot use keeps the steps of other nodes waiting.
//
// Others grant claims too, and a hint says so. What the node holds is asked for beside the rounds
// then, without a lock of the limits. If the hint is lost, the next comparison finds them.
type limiter struct {
	member driver.Membership
	node   journal.NodeID
	now    func() time.Time // the store's clock
	log    *slog.Logger
	audit  limitAudit
	wake   chan struct{} // one token: there may be something to send
	told   chan struct{} // one token: others have granted something

	mu       sync.Mutex // guards what follows
	last     int64
	list     map[int64]*limitEntry
	granted  int           // of list
	used     bool          // something was wanted, ever
	fresh    []*limitEntry // to be sent
	back     limitBack
	releases []driver.LimitRelease
	look     map[driver.LimitKey]bool
	due      map[driver.LimitKey]time.Time // when a look is worth it, by the store's clock
	held     bool                          // ask what is held, in the next round
	compare  bool                          // compare all
	unsure   time.Time                     // until then a round that has failed may happen; zero for none
	unknown  map[string]bool               // names without a limit that were reported
}

func newLimiter(m driver.Membership, j *driver.Journal, log *slog.Logger) *limiter {
	return &limiter{member: m, node: m.ID(), now: j.Now, log: log, wake: make(chan struct{}, 1), told: make(chan struct{}, 1), last: rand.Int64N(1 << 60),
		list: map[int64]*limitEntry{}, look: map[driver.LimitKey]bool{}, due: map[driver.LimitKey]time.Time{}, unknown: map[string]bool{},
		back: newLimitBack(), audit: limitAudit{m.ID(), j.Audit}}
}

// Want implements actor.Limiter.
func (l *limiter) Want(w *actor.LimitWant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	w.ID = l.last
	e := &limitEntry{want: w}
	l.list[w.ID], l.used = e, true
	if !l.back.add(e) {
		l.fresh = append(l.fresh, e)
	}
	l.poke()
}

// Withdraw implements actor.Limiter.
func (l *limiter) Withdraw(w *actor.LimitWant) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.list[w.ID]
	if e == nil || e.granted {
		return false
	}
	delete(l.list, w.ID)
	l.back.leave(e)
	// The store may have granted it meanwhile, or by a round that has failed: whatever is withdrawn
	// has used nothing.
	if e.sent || !l.unsure.IsZero() {
		l.end(w.ID, unused(w.Needs))
	}
	return true
}

// Release implements actor.Limiter.
func (l *limiter) Release(w *actor.LimitWant, used []journal.LimitNeed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.list[w.ID]; e != nil && e.granted {
		delete(l.list, w.ID)
		l.granted--
		l.end(w.ID, used)
	}
}

// noteRoom is called when a slot becomes free. It costs steps without limits a look at a number.
func (l *limiter) noteRoom() {
	if l.back.n.Load() > 0 {
		l.poke()
	}
}

// hear takes in a hint: somebody has granted something to this node, or every node should look.
func (l *limiter) hear(node journal.NodeID) {
	if node != 0 && node != l.node {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case len(l.list) == 0 && node != 0: // it was granted what it does not want
		l.compare = true
	case len(l.list) == 0:
		return
	case node != 0:
		wakeUp(l.told)
		return
	default:
		l.held = true
		l.lookAll()
	}
	l.poke()
}

// askLoop asks what the node holds when it hears that others have granted it something, until ctx
// ends. It does so beside the rounds, which may have to wait for locks. What such an answer says is
// held, was; so it lets attempts begin, and nothing else is concluded from it.
func (l *limiter) askLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.told:
		}
		a, err := l.member.Limits(ctx, driver.LimitRound{Held: true})
		l.mu.Lock()
		l.begin(a.Claims)
		if err != nil { // a round asks again
			l.held = true
			l.poke()
		}
		l.mu.Unlock()
	}
}

// doubt compares what the node has with what the store says, also if the node has nothing: a store
// that went back holds again what the node had then, and others would wait for it until the node
// left. A node that has never wanted anything has nothing to compare.
func (l *limiter) doubt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used {
		l.compare = true
		l.poke()
	}
}

// lookAll looks at every line in which the node waits. The caller holds the lock.
func (l *limiter) lookAll() {
	for _, e := range l.list {
		for _, n := range e.want.Needs {
			if !e.granted {
				l.look[driver.LimitKey{Name: n.Name, Key: n.Key}] = true
			}
		}
	}
}

// loop sends rounds until ctx ends. While nobody waits it rests for as long as a round has taken,
// at most limitPaceMax: a round costs the same for one step and for many, and what comes meanwhile
// shares the next. While somebody waits, what has ended is what another one waits for.
func (l *limiter) loop(ctx context.Context) {
	poll, polls := time.NewTimer(time.Hour), false // whether it runs
	poll.Stop()
	due := time.NewTimer(time.Hour)
	defer due.Stop()
	var asking sync.WaitGroup
	defer asking.Wait()
	asking.Go(func() { l.askLoop(ctx) })
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		case <-due.C:
		case <-poll.C:
			polls = false
			l.poll()
		}
		for wait := limitRetryMin; ; wait = min(2*wait, limitRetryMax) {
			s := l.next()
			if s == nil {
				break
			}
			began := time.Now()
			a, err := l.member.Limits(ctx, s.round)
			if err == nil && s.round.Compare {
				err = l.forget(ctx, a.Claims)
			}
			if err == nil {
				wait = limitRetryMin / 2
				if !l.answered(s, &a) {
					retry.Sleep(ctx, min(time.Since(began), limitPaceMax))
				}
				continue
			}
			l.failed(s, err)
			if errors.Is(err, journal.ErrNodeLost) || !retry.Sleep(ctx, wait) {
				break
			}
		}
		due.Reset(l.nextDue())
		if !polls && l.mayDiffer() {
			poll.Reset(limitPoll)
			polls = true
		}
	}
}

// mayDiffer tells whether the store may say something else of the node than the node: not if it has
// nothing, so that a node without limited steps is not woken.
func (l *limiter) mayDiffer() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.list) > 0 || !l.unsure.IsZero()
}

// poll makes up for hints that were lost, and for rounds that have happened late.
func (l *limiter) poll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.compare = l.compare || len(l.list) > 0 || !l.unsure.IsZero(); l.compare {
		l.lookAll()
	}
	if time.Now().After(l.unsure) { // this is the last comparison for it
		l.unsure = time.Time{}
	}
}

// next makes a round of what there is to send, nil if there is nothing. A comparison asks for
// nothing: what the store has forgotten must be held again before anything is granted.
func (l *limiter) next() *limitSent {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, at := range l.due {
		if !at.After(l.now()) {
			l.look[k] = true
			delete(l.due, k)
		}
	}
	repeats := !l.compare && !l.unsure.IsZero() // a comparison asks for nothing
	s := &limitSent{round: driver.LimitRound{Held: l.held || repeats, Compare: l.compare, Repeats: repeats}}
	l.fill(s, nil)
	if s.round.Size() == 0 && !l.held && !l.compare {
		return nil
	}
	l.held, l.compare = false, false
	if names := driver.LimitNames(s.round.Keys()); len(names) > 0 && !s.round.MayKnow() {
		s.round.Late = func(r *driver.LimitRound) {
			l.mu.Lock()
			defer l.mu.Unlock()
			if !s.over {
				l.fill(s, names)
				r.Wants, r.Releases, r.Look = s.round.Wants, s.round.Releases, s.round.Look
			}
		}
	}
	return s
}

// answered takes an answer in, and tells whether anything of the node waits.
func (l *limiter) answered(s *limitSent, a *driver.LimitAnswer) (waits bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.over = true
	for _, e := range s.wants {
		e.again = false
	}
	l.back.asking -= s.pulled
	for _, id := range a.Granted {
		l.grant(id)
	}
	l.begin(a.Claims)
	if s.round.Compare {
		l.compared(a.Claims)
	}
	for _, k := range a.Again {
		l.look[k] = true
	}
	for k, at := range a.Due {
		if has, waits := l.due[k]; !waits || at.Before(has) { // the answer may be about one claim of several
			l.due[k] = at
		}
	}
	for _, name := range a.Unknown {
		if !l.unknown[name] {
			l.unknown[name] = true
			l.log.Warn("steps name a limit that does not exist; it bounds nothing", logkey.Node, l.node, "limit", name)
		}
	}
	return l.held || l.granted+len(l.fresh) < len(l.list)
}

// grant lets the attempt of a want begin, once. The caller holds the lock: so no want is withdrawn
// whose attempt begins.
func (l *limiter) grant(id int64) {
	if e := l.list[id]; e != nil && !e.granted {
		e.granted = true
		l.granted++
		l.back.leave(e)
		e.want.Granted()
	}
}

// begin lets the attempts begin whose claims the store says are held. The caller holds the lock.
func (l *limiter) begin(claims []driver.KnownClaim) {
	for i := range claims {
		if claims[i].Held {
			l.grant(claims[i].ID)
		}
	}
}

// failed takes a round back that has failed: it may have happened or not.
func (l *limiter) failed(s *limitSent, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.over = true
	for _, e := range s.wants {
		e.sent = false // if it was, the comparison finds it
	}
	l.back.asking -= s.pulled
	r := &s.round
	l.releases = append(r.Releases, l.releases...)
	l.fresh = append(s.wants, l.fresh...)
	for _, k := range r.Look {
		l.look[k] = true
	}
	l.held, l.compare, l.unsure = l.held || r.Held, true, time.Now().Add(reconcileFor)
	if !errors.Is(err, journal.ErrUnavailable) && !errors.Is(err, journal.ErrNodeLost) && !errors.Is(err, journal.ErrStoreClosed) &&
		!errors.Is(err, context.Canceled) {
		l.log.Error("claims of limits cannot be asked for; the node asks again", logkey.Node, l.node, logkey.Error, err)
	}
}
