package worker

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// watchedMember is a membership whose contact a test makes and breaks. A call that gets no answer
// hangs until its limit.
type watchedMember struct {
	driver.Membership
	mu     sync.Mutex
	last   time.Time
	begun  chan struct{}
	judged bool
	silent bool
	asked  []time.Time
	offers int
	answer func() (bool, error)
}

func (m *watchedMember) Contact() (time.Time, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last, m.judged
}

func (m *watchedMember) Judged() <-chan struct{} { return m.begun }

func (m *watchedMember) Ask(ctx context.Context, need bool) (bool, error) {
	m.mu.Lock()
	if m.offers++; !need { // the lots say no
		m.mu.Unlock()
		return false, nil
	}
	m.asked = append(m.asked, time.Now())
	silent := m.silent
	m.mu.Unlock()
	if silent {
		<-ctx.Done()
		return false, journal.ErrUnavailable
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = time.Now()
	if m.answer != nil {
		return m.answer()
	}
	return false, nil
}

func (m *watchedMember) set(judged, silent bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.judged, m.silent = judged, silent
}

// judge is what a store does that is about to send the first renewal with an offer, and gets no
// answer from then on.
func (m *watchedMember) judge() {
	m.mu.Lock()
	m.last, m.judged, m.silent = time.Now(), true, true
	m.mu.Unlock()
	m.begun <- struct{}{}
}

func (m *watchedMember) questions() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.asked)
	m.asked, m.offers = nil, 0
	return n
}

// hear is an answer to another call of the node's.
func (m *watchedMember) hear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = time.Now()
}

// watched is a contact and what it has done.
type watched struct {
	contact
	text   bytes.Buffer // what is logged
	m      *watchedMember
	live   atomic.Bool // a run is owned
	mu     sync.Mutex
	events []string
	at     []time.Time
}

func (w *watched) note(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events, w.at = append(w.events, what), append(w.at, time.Now())
}

// took returns what has happened since it was asked, and when the last of it did.
func (w *watched) took() (what string, at time.Time) {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, e := range w.events {
		what, at = what+e, w.at[i]
	}
	w.events, w.at = nil, nil
	return what, at
}

func watch(t *testing.T, fn func(w *watched)) {
	synctest.Test(t, func(t *testing.T) {
		w := &watched{m: &watchedMember{last: time.Now(), begun: make(chan struct{}, 1)}}
		w.live.Store(true)
		var loops sync.WaitGroup
		w.contact = contact{
			member: w.m, grace: graceOfTests, owns: w.live.Load, interrupt: func(error) { w.note("interrupt ") }, resume: func() { w.note("resume ") },
			look: func() { w.note("look ") }, lost: func(error) { w.note("lost ") }, log: slog.New(slog.NewTextHandler(&w.text, nil)),
			wake: make(chan struct{}, 1), loops: &loops,
		}
		ctx, cancel := context.WithCancel(t.Context())
		loops.Go(func() { w.loop(ctx) })
		fn(w)
		cancel()
		loops.Wait()
	})
}

// A judged node that gets no answer has stopped its steps within its grace, counted from before the
// last answered request was sent, whenever the silence begins. It goes on with the first answer.
func TestSilenceInterruptsInTime(t *testing.T) {
	for _, after := range []time.Duration{0, 30 * time.Millisecond, 199 * time.Millisecond, 201 * time.Millisecond, 5 * time.Second} {
		watch(t, func(w *watched) {
			w.m.set(true, false)
			w.contact.note()
			time.Sleep(after)
			w.m.set(true, true)
			last, _ := w.m.Contact()
			time.Sleep(10 * graceOfTests)
			what, at := w.took()
			if what != "interrupt " || at.After(last.Add(graceOfTests)) {
				t.Errorf("after %s of contact: %q %s after the last answer, the grace is %s", after, what, at.Sub(last), graceOfTests)
			}
			w.m.set(true, false)
			time.Sleep(graceOfTests / 2)
			if what, _ := w.took(); what != "resume " {
				t.Errorf("after an answer: %q", what)
			}
			for _, line := range []string{
				"the store does not answer; steps are interrupted, because other nodes may take their runs", "the store answers again; steps go on",
			} {
				if strings.Count(w.text.String(), line) != 1 {
					t.Errorf("there is not one line %q in %s", line, &w.text)
				}
			}
		})
	}
}

// A node that nobody judges asks nothing, and goes on when the store is silent.
func TestNodeWithoutPeersIsNeverInterrupted(t *testing.T) {
	watch(t, func(w *watched) {
		w.m.set(false, true)
		for range 20 {
			time.Sleep(graceOfTests)
			w.contact.note() // a renewal
		}
		if what, _ := w.took(); what != "" || w.m.questions() > 0 {
			t.Errorf("a node alone: %q", what)
		}
		w.m.judge() // by a renewal that gets no answer
		since := time.Now()
		time.Sleep(graceOfTests)
		if what, at := w.took(); what != "interrupt " || at.Sub(since) < graceOfTests*3/4 {
			t.Errorf("another node has come: %q after %s, the grace is %s", what, at.Sub(since), graceOfTests)
		}
		w.m.set(false, true)
		w.contact.note()
		if what, _ := w.took(); what != "resume " {
			t.Errorf("the other node has left: %q", what)
		}
	})
}

// A judged node asks as often as it must, and passes on what it hears.
func TestQuestions(t *testing.T) {
	watch(t, func(w *watched) {
		w.m.set(true, false)
		w.contact.note()
		time.Sleep(10*graceOfTests + time.Millisecond)
		if n := w.m.questions(); n < 10*askPerGrace || n > 10*askPerGrace+1 {
			t.Errorf("%d questions in 10 graces", n)
		}
		w.m.mu.Lock()
		w.m.answer = func() (bool, error) { w.m.answer = nil; return true, nil }
		w.m.mu.Unlock()
		time.Sleep(graceOfTests)
		if what, _ := w.took(); what != "look " {
			t.Errorf("a neighbour has died: %q", what)
		}
		w.m.mu.Lock()
		w.m.answer = func() (bool, error) { w.m.answer = nil; return false, journal.ErrNodeLost }
		w.m.mu.Unlock()
		time.Sleep(graceOfTests)
		if what, _ := w.took(); what != "lost " {
			t.Errorf("the node was declared dead: %q", what)
		}
	})
}

// A look that hangs holds no renewal up, and there is one at a time.
func TestLooksAreApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := testWorker()
		looks, open := 0, 0
		w.reaper.member = lookedMember{fakeMember: m, look: func(ctx context.Context) {
			if open++; open > 1 {
				t.Error("two looks at once")
			}
			looks++
			<-ctx.Done()
			open--
		}}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); w.reaper.lookLoop(ctx) }()
		for range 11 {
			w.lease.renewed(driver.Renewal{})
			time.Sleep(time.Second)
		}
		cancel()
		<-ended
		if looks < 3 || looks > 4 { // one each lookMax, and one or two that end with the loop
			t.Errorf("%d looks in 11 s", looks)
		}
		w.fail(journal.ErrNodeLost)
		_ = w.Abort()
		time.Sleep(time.Minute)
	})
}

type lookedMember struct {
	fakeMember
	look func(ctx context.Context)
}

func (m lookedMember) Look(ctx context.Context) (driver.Look, error) {
	m.look(ctx)
	return driver.Look{}, journal.ErrUnavailable
}

// A node that hears the store often enough needs no questions, and notices its silence in time.
func TestAnswersToOthersReplaceQuestions(t *testing.T) {
	watch(t, func(w *watched) {
		w.m.set(true, false)
		w.contact.note()
		time.Sleep(graceOfTests)
		w.m.hear() // and a question that is due at this moment
		synctest.Wait()
		w.m.questions()
		for range 100 {
			time.Sleep(graceOfTests / askPerGrace / 2)
			w.m.hear()
		}
		if n := w.m.questions(); n > 0 {
			t.Errorf("%d questions beside the answers", n)
		}
		w.m.set(true, true)
		last, _ := w.m.Contact()
		time.Sleep(10 * graceOfTests)
		if what, at := w.took(); what != "interrupt " || at.After(last.Add(graceOfTests)) {
			t.Errorf("%q %s after the last answer, the grace is %s", what, at.Sub(last), graceOfTests)
		}
	})
}

// rest brings a contact to rest, with a contact that is older than a grace.
func (w *watched) rest() {
	w.live.Store(false)
	w.m.set(true, false)
	w.contact.note()
	time.Sleep(10 * graceOfTests)
	w.m.questions()
	time.Sleep(10 * graceOfTests)
}

// A node that owns no run asks for no sign of life and is never interrupted. It looks after others
// all the same.
func TestNodeThatOwnsNothingRests(t *testing.T) {
	watch(t, func(w *watched) {
		w.rest()
		w.m.mu.Lock()
		offers := w.m.offers
		w.m.mu.Unlock()
		if offers < 10*askPerGrace-1 || offers > 10*askPerGrace+1 {
			t.Errorf("%d offers in 10 graces", offers)
		}
		if n := w.m.questions(); n > 0 {
			t.Errorf("%d questions", n)
		}
		w.m.set(true, true)
		time.Sleep(10 * graceOfTests)
		if what, _ := w.took(); what != "" {
			t.Errorf("the store is silent, and nothing is owned: %q", what)
		}
	})
}

// The first run of a node that rests begins without a question if the answer that brought it counts,
// and the contact is watched from then on.
func TestFirstRunEndsTheRest(t *testing.T) {
	watch(t, func(w *watched) {
		w.rest()
		w.m.hear()
		last, _ := w.m.Contact()
		w.m.set(true, true)
		w.live.Store(true)
		w.contact.begin()
		if what, _ := w.took(); what != "" {
			t.Errorf("at once: %q", what)
		}
		time.Sleep(10 * graceOfTests)
		if what, at := w.took(); what != "interrupt " || at.After(last.Add(graceOfTests)) {
			t.Errorf("%q %s after the last answer, the grace is %s", what, at.Sub(last), graceOfTests)
		}
		w.live.Store(false) // it was given up
		time.Sleep(10 * graceOfTests)
		w.m.set(true, false)
		time.Sleep(graceOfTests)
		if what, _ := w.took(); what != "resume " {
			t.Errorf("the store is back: %q", what)
		}
	})
}

// If that answer does not count, nothing is executed before another one has come: the others may
// have seen no session for a while. That is no fault to log, unless the answer stays away.
func TestFirstRunWaitsForAContact(t *testing.T) {
	for silent, want := range map[bool]string{false: "resume ", true: ""} {
		watch(t, func(w *watched) {
			w.rest()
			w.m.set(true, silent)
			w.live.Store(true)
			w.contact.begin()
			w.mu.Lock() // what happens is noted before begin returns
			if len(w.events) != 1 || w.events[0] != "interrupt " {
				t.Errorf("begin: %q", w.events)
			}
			w.events, w.at = nil, nil
			w.mu.Unlock()
			w.contact.begin() // of the next run
			time.Sleep(graceOfTests)
			if what, _ := w.took(); what != want {
				t.Errorf("silent %t: %q", silent, what)
			}
			if n := strings.Count(w.text.String(), "the store does not answer"); (n == 1) != silent {
				t.Errorf("silent %t, and logged: %s", silent, &w.text)
			}
		})
	}
}

// A run that comes while the loop finds that the node owns nothing is seen by one of the two.
func TestRunThatComesAtTheBeginOfARest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, looks := &watchedMember{last: time.Now(), judged: true}, 0
		c := contact{member: m, grace: graceOfTests, wake: make(chan struct{}, 1)}
		c.owns = func() bool { looks++; return looks > 1 }
		if s := c.heedNow(); s.resting || c.resting.Load() {
			t.Error("it rests although it owns a run by now")
		}
	})
}
