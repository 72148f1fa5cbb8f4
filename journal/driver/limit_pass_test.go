package driver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// passWorld is a world of claims of several limits; end ends all that is held by claims of a kind.
type passWorld struct {
	*limitWorld
	last int64
	due  map[LimitKey]time.Time
}

func newPassWorld(t *testing.T, at time.Time, limits ...journal.Limit) *passWorld {
	return &passWorld{limitWorld: newLimitWorld(t, at, limits...), due: map[LimitKey]time.Time{}}
}

func (w *passWorld) wants(kind string, since time.Time, n int, needs ...journal.LimitNeed) (list []Want) {
	for range n {
		w.last++
		w.names[w.last] = kind
		list = append(list, Want{ID: w.last, Run: journal.NewRunID(), Priority: 3, Since: since.Add(time.Duration(w.last)), Needs: needs})
	}
	return list
}

func (w *passWorld) end(kind string) (r LimitRound) {
	for id, c := range w.limitWorld.wants {
		if strings.HasPrefix(w.names[id], kind) && !c.granted.IsZero() {
			r.Releases = append(r.Releases, LimitRelease{ID: id, Needs: c.Needs})
		}
	}
	return r
}

// A key with a long and old backlog, which its own limit holds up, does not keep the limit that it
// shares with others from them.
func TestABacklogKeepsNobodyElse(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]journal.Limit{
		"concurrency": {Name: "tenant", Concurrency: 1}, "rate": {Name: "tenant", Rate: journal.Rate{N: 1, Per: time.Second}},
	} {
		for _, shared := range []journal.LimitNeed{{Name: "bank", Cost: 1}, {Name: "bank", Key: "eu", Cost: 1}} {
			t.Run(fmt.Sprint(name, " with ", shared.Key), func(t *testing.T) {
				t.Parallel()
				at := time.Unix(1_800_000_000, 0)
				w := newPassWorld(t, at, own, journal.Limit{Name: "bank", Concurrency: 3})
				of := func(tenant string) []journal.LimitNeed {
					return []journal.LimitNeed{shared, {Name: "tenant", Key: tenant, Cost: 1}}
				}
				w.round(at, LimitRound{Wants: append(w.wants("old", at.Add(-time.Hour), 50, of("old")...), w.wants("new", at, 5, of("new")...)...)})
				rounds, left := 0, 5
				for ; left > 1 && rounds < 50; rounds++ {
					at = at.Add(time.Second)
					r := w.end("")
					r.Look = []LimitKey{{"bank", shared.Key}, {"tenant", "old"}, {"tenant", "new"}}
					granted, _ := w.round(at, r)
					left -= strings.Count(granted, "new")
				}
				if rounds > 6 {
					t.Errorf("5 steps of a key beside a backlog of another one need %d rounds, its own limit lets one of them begin in each", rounds)
				}
			})
		}
	}
}

// Others that need one limit each, of which one is always held when the other is free, do not keep
// a claim of both waiting for ever, whichever of the two is kept first.
func TestAClaimOfTwoLimitsGetsBoth(t *testing.T) {
	t.Parallel()
	for _, crowd := range []string{"x", "y"} {
		t.Run(crowd, func(t *testing.T) {
			t.Parallel()
			at := time.Unix(1_800_000_000, 0)
			w := newPassWorld(t, at, journal.Limit{Name: "x", Concurrency: 1}, journal.Limit{Name: "y", Concurrency: 1})
			x, y := journal.LimitNeed{Name: "x", Cost: 1}, journal.LimitNeed{Name: "y", Cost: 1}
			w.round(at, LimitRound{Wants: append(w.wants("x", at, 3, x), w.wants("y", at, 3, y)...)})
			w.round(at, LimitRound{Wants: append(w.wants("both", at.Add(-time.Hour), 1, x, y), w.wants(crowd, at, 5, map[string]journal.LimitNeed{"x": x, "y": y}[crowd])...)})
			for i := range 10 {
				at = at.Add(time.Second)
				kind, need := "x", x
				if i%2 == 1 {
					kind, need = "y", y
				}
				r := w.end(kind)
				r.Wants = w.wants(kind, at, 1, need)
				if granted, _ := w.round(at, r); strings.Contains(granted, "both") {
					return
				}
			}
			t.Error("it waits for ever")
		})
	}
}
