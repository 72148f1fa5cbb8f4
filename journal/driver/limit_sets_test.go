package driver

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// settle makes a round and all that it asks for, as nodes do, and tells how many that were and what
// was granted.
func (w *passWorld) settle(at time.Time, r LimitRound) (rounds int, granted []string) {
	w.t.Helper()
	for {
		rounds++
		names, a := w.round(at, r)
		granted = append(granted, strings.Fields(names)...)
		for k, due := range a.Due {
			if has, ok := w.due[k]; !ok || due.Before(has) {
				w.due[k] = due
			}
		}
		if r = (LimitRound{Look: a.Again, Runs: r.Runs && a.More}); len(a.Again) == 0 && !r.Runs {
			return rounds, granted
		}
		if rounds > 200 {
			w.t.Fatalf("rounds go on and on: %v", a.Again)
		}
	}
}

// looks are the lines whose rate lets somebody begin by now.
func (w *passWorld) looks(at time.Time) (r LimitRound) {
	for k, due := range w.due {
		if !due.After(at) {
			r.Look = append(r.Look, k)
			delete(w.due, k)
		}
	}
	slices.SortFunc(r.Look, LimitKey.compare)
	return r
}

// heldUp tells whether a line holds a claim up that needs so much of it.
func (w *limitWorld) heldUp(n journal.LimitNeed) bool {
	l := tableLine{LimitLine: w.lines[LimitKey{n.Name, n.Key}]}
	for _, k := range []LimitKey{{n.Name, n.Key}, {n.Name, ""}} {
		if limit, ok := w.limits[k]; ok {
			l.limit = &limit
			break
		}
	}
	total := w.limits[LimitKey{n.Name, ""}].Total
	return !l.free() || l.due(n.Cost) > w.now.UnixMicro() || total > 0 && w.lines[LimitKey{n.Name, ""}.Total()].Held >= total
}

// behindCost tells whether a claim stands behind one that the rate of a line does not let begin.
func (w *limitWorld) behindCost(c *worldClaim) bool {
	for _, o := range w.wants {
		for i, n := range c.Needs {
			for k, m := range o.Needs {
				if m.Name == n.Name && m.Key == n.Key && o.granted.IsZero() && !w.halted[o.Route] && o.ranks[k] <= c.ranks[i] && w.heldUp(m) {
					return true
				}
			}
		}
	}
	return false
}

// However many claims another limit holds up, who needs only the shared one begins at once: a
// claim, and a claim of another key. When the other limit has room, the first of those begins that
// it held up.
func TestNobodyWaitsBehindThoseOfAnotherLimit(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]journal.Limit{
		"concurrency": {Name: "tenant", Concurrency: 1}, "rate": {Name: "tenant", Rate: journal.Rate{N: 1, Per: time.Hour}},
	} {
		for _, full := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " while the shared one is full: ", full), func(t *testing.T) {
				t.Parallel()
				at := time.Unix(1_800_000_000, 0)
				w := newPassWorld(t, at, own, journal.Limit{Name: "bank", Concurrency: 3})
				bank := journal.LimitNeed{Name: "bank", Cost: 1}
				of := func(tenant string) []journal.LimitNeed {
					return []journal.LimitNeed{bank, {Name: "tenant", Key: tenant, Cost: 1}}
				}
				if full {
					w.settle(at, LimitRound{Wants: w.wants("first", at, 3, bank)})
				}
				w.settle(at, LimitRound{Wants: w.wants("old", at, 200, of("old")...)})
				behind := append(w.wants("bank", at, 1, bank), w.wants("new", at, 1, of("new")...)...)
				_, granted := w.settle(at, LimitRound{Wants: behind})
				if full {
					_, granted = w.settle(at, w.end("first"))
					granted = slices.DeleteFunc(granted, func(name string) bool { return name == "old" })
				}
				if slices.Sort(granted); !slices.Equal(granted, []string{"bank", "new"}) {
					t.Errorf("of those behind a backlog of another limit begin %q", granted)
				}
				at = at.Add(time.Hour)
				r := w.end("")
				r.Look = w.looks(at).Look
				if _, granted = w.settle(at, r); !slices.Equal(granted, []string{"old"}) {
					t.Errorf("%q begin of the backlog when its limit has room, want one", granted)
				}
			})
		}
	}
}

// Any number of keys of a Total wait for another limit: rounds end, and who needs only the Total
// begins when it has room.
func TestKeysOfATotalThatWaitForAnotherLimit(t *testing.T) {
	t.Parallel()
	const keys = 150
	at := time.Unix(1_800_000_000, 0)
	w := newPassWorld(t, at, journal.Limit{Name: "own", Concurrency: 1}, journal.Limit{Name: "api", Total: 1})
	own := func(i int) journal.LimitNeed { return journal.LimitNeed{Name: "own", Key: fmt.Sprint(i), Cost: 1} }
	api := func(key string) journal.LimitNeed { return journal.LimitNeed{Name: "api", Key: key, Cost: 1} }
	for i := range keys {
		w.settle(at, LimitRound{Wants: w.wants("holds", at, 1, own(i))})
	}
	w.settle(at, LimitRound{Wants: w.wants("y", at, 1, api("y"))})
	for i := range keys {
		w.settle(at, LimitRound{Wants: w.wants("both", at, 1, own(i), api(fmt.Sprint(i)))})
	}
	w.settle(at, LimitRound{Wants: w.wants("z", at, 1, api("z"))})
	rounds, granted := w.settle(at, w.end("y"))
	if !slices.Equal(granted, []string{"z"}) || rounds > 5 {
		t.Errorf("%q begins after %d rounds, want z", granted, rounds)
	}
	if rounds, _ := w.settle(at, LimitRound{Look: []LimitKey{{"api", "~total"}}}); rounds > 1 {
		t.Errorf("%d rounds for nothing", rounds)
	}
	for i := range keys {
		at = at.Add(time.Millisecond)
		r := w.end("holds")
		r.Releases = r.Releases[:1]
		w.settle(at, r)
		if _, granted = w.settle(at, append1(w.end("z"), w.end("both"))); i < keys-1 && len(granted) > 1 {
			t.Fatalf("%q begin at once", granted)
		}
	}
	for range keys {
		w.settle(at, w.end(""))
	}
	if left := w.waiting(); left > 0 {
		t.Errorf("%d never begin", left)
	}
}

// What becomes free of several limits at once goes by the order of each line, also to a claim whose
// set was away from the line.
func TestAClaimKeepsItsPlaceWhereItsSetIsAway(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0)
	w := newPassWorld(t, at, journal.Limit{Name: "x", Concurrency: 1}, journal.Limit{Name: "y", Concurrency: 1})
	x, y := journal.LimitNeed{Name: "x", Cost: 1}, journal.LimitNeed{Name: "y", Cost: 1}
	w.settle(at, LimitRound{Wants: w.wants("held y", at, 1, y)})
	w.settle(at, LimitRound{Wants: w.wants("both", at, 100, x, y)})
	w.settle(at, LimitRound{Wants: w.wants("held x", at, 1, x)})
	w.settle(at, LimitRound{Wants: w.wants("later", at, 1, x)})
	if _, granted := w.settle(at, w.end("held")); !slices.Equal(granted, []string{"both"}) {
		t.Errorf("%q begins when both are free, want the first of those that need both", granted)
	}
}

func append1(a, b LimitRound) LimitRound {
	a.Releases = append(a.Releases, b.Releases...)
	return a
}

func (w *passWorld) waiting() (n int) {
	for _, c := range w.limitWorld.wants {
		if c.granted.IsZero() {
			n++
		}
	}
	return n
}

// Whatever comes and ends of claims of several limits, by the hundred: rounds end, nothing waits
// that nothing holds up, no more is held than a limit allows, and nothing waits for ever. Some have
// routes, which are halted now and then: those take nothing meanwhile, and hold nobody up.
func TestNothingWaitsThatNothingHoldsUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		chance := rand.New(rand.NewPCG(seed, 11))
		at := time.Unix(1_800_000_000, 0)
		w := newPassWorld(t, at, journal.Limit{Name: "a", Concurrency: 1 + chance.IntN(4)}, journal.Limit{Name: "b", Concurrency: 2, Total: 1 + chance.IntN(6)},
			journal.Limit{Name: "c", Rate: journal.Rate{N: 3, Per: 30 * time.Millisecond, Burst: 4}}, journal.Limit{Name: "d", Total: 3, Rate: journal.Rate{N: 1, Per: 10 * time.Millisecond}},
			journal.Limit{Name: "e", Concurrency: 1, Ageing: time.Second})
		keys, routes := 1+chance.IntN(120), []journal.Route{{}, {}, {Queue: "q", Workflow: "a"}, {Queue: "q", Workflow: "b"}}
		patience := seed%3 == 0
		needs := func() (list []journal.LimitNeed) {
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				if chance.IntN(5) < 2 {
					n := journal.LimitNeed{Name: name, Cost: 1}
					if name != "a" {
						n.Key = fmt.Sprint("k", chance.IntN(keys))
					}
					if name == "c" {
						n.Cost = 1 + chance.Int64N(4)
					}
					list = append(list, n)
				}
			}
			return list
		}
		check := func() {
			t.Helper()
			for id, c := range w.limitWorld.wants {
				if c.granted.IsZero() && !w.halted[c.Route] && !patience && !slices.ContainsFunc(c.Needs, w.heldUp) && !w.behindCost(c) {
					t.Fatalf("seed %d: %d waits for nothing: %v", seed, id, c.Needs)
				}
			}
		}
		since := at
		if patience {
			since = at.Add(-time.Minute)
		}
		for step := range 300 {
			at = at.Add(time.Duration(chance.IntN(5)) * time.Millisecond)
			var r LimitRound
			halted := maps.Clone(w.halted)
			if chance.IntN(10) == 0 {
				halted[routes[2+chance.IntN(2)]] = chance.IntN(2) == 0
			}
			held := map[int64]bool{}
			for id, c := range w.limitWorld.wants {
				held[id] = !c.granted.IsZero()
			}
			w.halted, r.Runs = halted, true
			if step < 200 || chance.IntN(4) == 0 {
				for range chance.IntN(4) {
					if list := needs(); len(list) > 0 {
						wants := w.wants("x", since, 1, list...)
						wants[0].Priority, wants[0].Route = int16(1+chance.IntN(5)), routes[chance.IntN(len(routes))]
						r.Wants = append(r.Wants, wants...)
					}
				}
			}
			for _, id := range slices.Sorted(maps.Keys(w.limitWorld.wants)) {
				c := w.limitWorld.wants[id]
				if chance.IntN(4) == 0 && (!c.granted.IsZero() || chance.IntN(40) == 0) {
					r.Releases = append(r.Releases, LimitRelease{ID: id, Needs: c.Needs})
				}
			}
			r.Look = w.looks(at).Look
			w.settle(at, r)
			check()
			for id, c := range w.limitWorld.wants {
				if !c.granted.IsZero() && !held[id] && halted[c.Route] {
					t.Fatalf("seed %d: %d was granted while its route is halted", seed, id)
				}
			}
		}
		w.halted = map[journal.Route]bool{}
		for i := 0; w.waiting() > 0; i++ {
			if i > 5000 {
				t.Fatalf("seed %d: %d wait for ever", seed, w.waiting())
			}
			at = at.Add(10 * time.Millisecond)
			r := w.end("")
			r.Look, r.Runs = w.looks(at).Look, true
			w.settle(at, r)
			check()
		}
	}
}
