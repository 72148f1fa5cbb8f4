package worker

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/actor"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
)

// limiterWorld is a node of a store in memory that claims limits.
type limiterWorld struct {
	t     *testing.T
	store *memory.Store
	j     *driver.Journal
	m     *rounds
	l     *limiter
	log   *strings.Builder
	began map[*actor.LimitWant]bool
}

// inLimiterWorld calls fn with one in a bubble, where time is free.
func inLimiterWorld(t *testing.T, fn func(w *limiterWorld)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(nil)
		w := &limiterWorld{t: t, store: store, j: driver.New(store, nil), log: &strings.Builder{}, began: map[*actor.LimitWant]bool{}}
		m, err := w.j.Join(t.Context(), journal.Node{Name: "n", Lease: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		w.m = &rounds{Membership: m}
		w.l = newLimiter(w.m, w.j, slog.New(slog.NewTextHandler(w.log, nil)))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); w.l.loop(ctx) }()
		w.set(journal.Limit{Name: "x", Concurrency: 1})
		fn(w)
		cancel()
		<-done
	})
}

func (w *limiterWorld) set(l journal.Limit) {
	w.t.Helper()
	if _, err := w.j.Admin(w.t.Context(), driver.AdminAction{Kind: driver.AdminSetLimit, Limit: &l}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *limiterWorld) want() *actor.LimitWant {
	r := &actor.LimitWant{Want: driver.Want{Run: journal.NewRunID(), Priority: 3, Since: time.Now(), Needs: []journal.LimitNeed{{Name: "x", Cost: 1}}}}
	r.Granted = func() { w.began[r] = true }
	w.l.Want(r)
	return r
}

// hasBegun tells whether a want was granted, once nothing of the node goes on.
func (w *limiterWorld) hasBegun(r *actor.LimitWant) bool {
	synctest.Wait()
	return w.began[r]
}

// held are the claims that the store says are held.
func (w *limiterWorld) held() (n int) {
	w.t.Helper()
	synctest.Wait()
	page, err := w.j.Limits(w.t.Context(), journal.LimitFilter{Claims: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range page.Claims {
		if !c.Granted.IsZero() {
			n++
		}
	}
	return n
}

// Whatever becomes of a round, what was asked for is granted once, and nothing that has ended is
// held.
func TestLostRoundsOfLimits(t *testing.T) {
	for name, lost := range map[string]func(error) (before, after error){
		"before": func(err error) (error, error) { return err, nil },
		"after":  func(err error) (error, error) { return nil, err },
	} {
		t.Run(name, func(t *testing.T) {
			inLimiterWorld(t, func(w *limiterWorld) {
				w.m.fail = func(nth int) (error, error) {
					if nth%3 == 1 {
						return lost(journal.ErrUnavailable)
					}
					return nil, nil
				}
				a, b := w.want(), w.want()
				time.Sleep(limitRetryMax)
				if w.held() != 1 || !w.hasBegun(a) || w.hasBegun(b) {
					t.Fatalf("after a lost round %d are held, %v have begun", w.held(), w.began)
				}
				c := w.want()
				if time.Sleep(limitRetryMax); !w.l.Withdraw(c) || w.l.Withdraw(a) {
					t.Error("one that waits cannot be withdrawn, or one that has begun can")
				}
				w.l.Release(a, a.Needs)
				w.l.Release(a, a.Needs)
				time.Sleep(limitRetryMax)
				if w.held() != 1 || !w.hasBegun(b) || w.hasBegun(c) {
					t.Fatalf("after the release %d are held, %v have begun", w.held(), w.began)
				}
				w.l.Release(b, b.Needs)
				time.Sleep(limitRetryMax)
				if w.held() != 0 || w.hasBegun(c) {
					t.Errorf("in the end %d are held, %v have begun", w.held(), w.began)
				}
			})
		})
	}
}

// A store that refuses rounds for another reason is asked again, and somebody is told.
func TestRefusedRoundsOfLimitsAreTold(t *testing.T) {
	inLimiterWorld(t, func(w *limiterWorld) {
		w.m.fail = func(nth int) (error, error) {
			if nth == 1 {
				return errors.New("no such table"), nil
			}
			return nil, nil
		}
		a := w.want()
		time.Sleep(limitRetryMax)
		if synctest.Wait(); !w.hasBegun(a) || !strings.Contains(w.log.String(), "claims of limits cannot be asked for; the node asks again") {
			t.Errorf("begun: %v; the log: %s", w.began, w.log)
		}
		w.l.Release(a, a.Needs)
	})
}

// A claim that is executed is held again in a store that has forgotten it, and one that the store
// remembers although it has ended is released.
func TestLimitsInAStoreThatWentBack(t *testing.T) {
	inLimiterWorld(t, func(w *limiterWorld) {
		a := w.want()
		if w.held() != 1 {
			t.Fatal("it is not held")
		}
		with := w.store.Mark()
		w.l.Release(a, a.Needs)
		if w.held() != 0 {
			t.Fatal("it is held")
		}
		without := w.store.Mark()
		b := w.want()
		if w.held() != 1 || !w.hasBegun(b) {
			t.Fatal("the second is not held")
		}
		w.store.GoBack(without)
		w.l.doubt()
		c := w.want()
		if w.held() != 1 || w.hasBegun(c) {
			t.Errorf("forgotten: %d are held, a third has begun: %v", w.held(), w.hasBegun(c))
		}
		w.store.GoBack(with)
		w.l.doubt()
		if w.held() != 1 || w.hasBegun(c) {
			t.Errorf("remembered: %d are held, a third has begun: %v", w.held(), w.hasBegun(c))
		}
		w.l.Release(b, b.Needs)
		if w.held() != 1 || !w.hasBegun(c) {
			t.Errorf("in the end %d are held, the third has begun: %v", w.held(), w.hasBegun(c))
		}
		w.l.Release(c, c.Needs)
	})
}

// What others grant is found without a hint, and at once with one. Who waits for nothing asks
// nothing.
func TestGrantsOfOthersAreFound(t *testing.T) {
	inLimiterWorld(t, func(w *limiterWorld) {
		other, err := w.j.Join(t.Context(), journal.Node{Name: "other", Lease: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		round := driver.LimitRound{Wants: []driver.Want{{ID: 1, Run: journal.NewRunID(), Priority: 3, Needs: []journal.LimitNeed{{Name: "x", Cost: 1}}}}}
		end := driver.LimitRound{Releases: []driver.LimitRelease{{ID: 1, Needs: round.Wants[0].Needs}}}
		for _, hinted := range []bool{false, true} {
			if a, err := other.Limits(t.Context(), round); err != nil || len(a.Granted) != 1 {
				t.Fatalf("%+v, %v", a, err)
			}
			a := w.want()
			if synctest.Wait(); w.hasBegun(a) {
				t.Fatal("two have begun")
			}
			if _, err := other.Limits(t.Context(), end); err != nil {
				t.Fatal(err)
			}
			if hinted {
				w.l.hear(w.l.node)
			} else {
				time.Sleep(limitPoll)
			}
			if synctest.Wait(); !w.hasBegun(a) {
				t.Errorf("hinted %v: what was granted is not found", hinted)
			}
			w.l.Release(a, a.Needs)
			synctest.Wait()
		}
		asked := w.m.sent()
		w.l.hear(0)
		time.Sleep(time.Hour)
		if synctest.Wait(); w.m.sent() != asked {
			t.Errorf("a node that waits for nothing has sent %d rounds in an hour", w.m.sent()-asked)
		}
	})
}

// What others grant begins although a round of the node waits for a lock.
func TestGrantsAreHeardBesideARound(t *testing.T) {
	inLimiterWorld(t, func(w *limiterWorld) {
		other, err := w.j.Join(t.Context(), journal.Node{Name: "other", Lease: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		need := []journal.LimitNeed{{Name: "x", Cost: 1}}
		if _, err := other.Limits(t.Context(), driver.LimitRound{Wants: []driver.Want{{ID: 1, Run: journal.NewRunID(), Priority: 3, Needs: need}}}); err != nil {
			t.Fatal(err)
		}
		a := w.want()
		synctest.Wait()
		stuck := make(chan struct{})
		w.m.mu.Lock()
		w.m.stuck = stuck
		w.m.mu.Unlock()
		b := w.want()
		synctest.Wait()
		if _, err := other.Limits(t.Context(), driver.LimitRound{Releases: []driver.LimitRelease{{ID: 1, Needs: need}}}); err != nil {
			t.Fatal(err)
		}
		w.l.hear(w.l.node)
		if synctest.Wait(); !w.hasBegun(a) || w.hasBegun(b) {
			t.Errorf("begun while a round is stuck: %v and %v, want the first", w.hasBegun(a), w.hasBegun(b))
		}
		close(stuck)
		w.l.Release(a, a.Needs)
		if w.held() != 1 || !w.hasBegun(b) {
			t.Error("the second has not begun")
		}
		w.l.Release(b, b.Needs)
	})
}

// A rate lets one begin after the other without a poll in between.
func TestRatesWakeTheNode(t *testing.T) {
	inLimiterWorld(t, func(w *limiterWorld) {
		w.set(journal.Limit{Name: "x", Rate: journal.Rate{N: 10, Per: time.Second}})
		began := time.Now()
		var wants []*actor.LimitWant
		for range 6 {
			wants = append(wants, w.want())
		}
		time.Sleep(520 * time.Millisecond)
		synctest.Wait()
		for i, r := range wants {
			if !w.hasBegun(r) {
				t.Errorf("%d has not begun after %s", i, time.Since(began))
			}
			w.l.Release(r, r.Needs)
		}
		if w.m.sent() > 15 {
			t.Errorf("six that begin one after the other cost %d rounds", w.m.sent())
		}
	})
}

// A round that happens long after it has failed leaves nothing held, also if the node wants nothing
// any more: a comparison finds it, and behind the last one the hint of whoever grants it.
func TestLateRoundsOfLimits(t *testing.T) {
	for name, c := range map[string]struct {
		late, after time.Duration
		hint        bool
	}{
		"found": {late: reconcileFor - limitPoll/2, after: 3 * limitPoll}, "told": {late: reconcileFor + 3*limitPoll, after: limitPoll, hint: true},
	} {
		t.Run(name, func(t *testing.T) {
			inLimiterWorld(t, func(w *limiterWorld) {
				w.m.late = c.late
				a := w.want()
				synctest.Wait()
				if !w.l.Withdraw(a) {
					t.Fatal("one that waits cannot be withdrawn")
				}
				time.Sleep(c.late + time.Millisecond)
				if n := w.held(); n != 1 {
					t.Fatalf("%d are held by the late round, want 1", n)
				}
				if c.hint {
					w.l.hear(w.l.node)
				}
				time.Sleep(c.after)
				if n := w.held(); n != 0 {
					t.Errorf("%d are held by nobody", n)
				}
				sent := w.m.sent()
				if time.Sleep(10 * limitPoll); w.m.sent() != sent && c.hint {
					t.Errorf("a node that wants nothing sends %d rounds", w.m.sent()-sent)
				}
			})
		})
	}
}

// A want that is withdrawn has used nothing of a rate, also if another node has granted it and this
// one has yet to hear of it.
func TestWithdrawnBehindItsGrant(t *testing.T) {
	inLimiterWorld(t, func(w *limiterWorld) {
		w.set(journal.Limit{Name: "x", Concurrency: 1, Rate: journal.Rate{N: 1, Per: 24 * time.Hour, Burst: 2}})
		other, err := w.j.Join(t.Context(), journal.Node{Name: "other", Lease: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		needs := []journal.LimitNeed{{Name: "x", Cost: 1}}
		want := driver.Want{ID: 1, Run: journal.NewRunID(), Priority: 3, Since: time.Now(), Needs: needs}
		a, err := other.Limits(t.Context(), driver.LimitRound{Wants: []driver.Want{want}})
		if err != nil || len(a.Granted) != 1 {
			t.Fatalf("the other node is granted %v, %v", a.Granted, err)
		}
		b := w.want()
		synctest.Wait()
		if _, err := other.Limits(t.Context(), driver.LimitRound{Releases: []driver.LimitRelease{{ID: 1, Needs: needs}}}); err != nil {
			t.Fatal(err)
		}
		if w.held() != 1 || w.hasBegun(b) || !w.l.Withdraw(b) {
			t.Fatalf("%d are held, %v have begun; want one that the node does not know of", w.held(), w.began)
		}
		if n := w.held(); n != 0 {
			t.Errorf("%d are held behind the withdrawal", n)
		}
		c := w.want()
		if !w.hasBegun(c) {
			t.Error("what was withdrawn costs the next one a day")
		}
		w.l.Release(c, c.Needs)
	})
}

// Nor if it was granted by a round whose answer was lost.
func TestWithdrawnBehindALostAnswer(t *testing.T) {
	inLimiterWorld(t, func(w *limiterWorld) {
		w.set(journal.Limit{Name: "x", Concurrency: 1, Rate: journal.Rate{N: 1, Per: 24 * time.Hour, Burst: 1}})
		w.m.fail = func(nth int) (before, after error) {
			if nth == 1 {
				after = journal.ErrUnavailable
			}
			return nil, after
		}
		a := w.want()
		if w.held() != 1 || w.hasBegun(a) || !w.l.Withdraw(a) {
			t.Fatalf("%d are held, %v have begun; want one that the node does not know of", w.held(), w.began)
		}
		time.Sleep(limitRetryMax)
		b := w.want()
		if time.Sleep(limitRetryMax); !w.hasBegun(b) {
			t.Error("what was withdrawn costs the next one a day")
		}
		w.l.Release(b, b.Needs)
	})
}

// Nothing of limits is asked of the store, and no step begins, when the loop has ended: the node
// may have left by then.
func TestQuestionsEndWithTheLoopOfLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := driver.New(memory.New(nil), nil)
		m, err := j.Join(t.Context(), journal.Node{Name: "n", Lease: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		asked, ended := make(chan struct{}), make(chan struct{})
		l := newLimiter(&rounds{Membership: m, asked: asked}, j, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		go func() { defer close(ended); l.loop(ctx) }()
		l.told <- struct{}{}
		synctest.Wait()
		cancel()
		synctest.Wait()
		select {
		case <-ended:
			t.Error("the loop has ended before its question has")
		default:
		}
		close(asked)
		<-ended
	})
}
