package driver

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// limitWorld is what a store keeps of limits, in maps.
type limitWorld struct {
	t      *testing.T
	now    time.Time
	limits map[LimitKey]journal.Limit
	lines  map[LimitKey]LimitLine
	wants  map[int64]*worldClaim
	names  map[int64]string
	sets   map[LimitKey]map[int64]*worldSet
	halted map[journal.Route]bool
}

type worldClaim struct {
	Want
	ranks   []int64
	granted time.Time
}

func newLimitWorld(t *testing.T, now time.Time, limits ...journal.Limit) *limitWorld {
	w := &limitWorld{t: t, now: now, limits: map[LimitKey]journal.Limit{}, lines: map[LimitKey]LimitLine{}, wants: map[int64]*worldClaim{},
		names: map[int64]string{}, sets: map[LimitKey]map[int64]*worldSet{}, halted: map[journal.Route]bool{}}
	for _, l := range limits {
		if err := l.Check(); err != nil {
			t.Fatal(err)
		}
		w.limits[LimitKey{l.Name, l.Key}] = l
	}
	return w
}

func (w *limitWorld) Limit(k LimitKey) (*journal.Limit, error) {
	if l, ok := w.limits[k]; ok {
		return &l, nil
	}
	return nil, nil
}

func (w *limitWorld) Line(k LimitKey) (LimitLine, error) { return w.lines[k], nil }

func (w *limitWorld) Open(name string, max int) (keys []LimitKey, err error) {
	for k, l := range w.lines {
		if k.Name == name && l.Open {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, LimitKey.compare)
	return keys[:min(max, len(keys))], nil
}

func (w *limitWorld) News(time.Time, int) ([]LimitNews, error)               { return nil, nil }
func (w *limitWorld) LooksAt(time.Time, int) ([]LimitKey, error)             { return nil, nil }
func (w *limitWorld) NextNews(time.Time) (time.Time, error)                  { return time.Time{}, nil }
func (w *limitWorld) Known(journal.NodeID, int64) (bool, error)              { return false, nil }
func (w *limitWorld) Claims(journal.NodeID, bool) ([]KnownClaim, error)      { return nil, nil }
func (w *limitWorld) Removed(_ journal.NodeID, _ int) (ids []int64, _ error) { return nil, nil }

func (w *limitWorld) Remove(_ journal.NodeID, id int64) (freed []Freed, err error) {
	if c := w.wants[id]; c != nil {
		for _, n := range c.Needs {
			freed = append(freed, Freed{LimitKey: LimitKey{n.Name, n.Key}, Cost: n.Cost, Used: n.Cost, Granted: c.granted})
		}
		delete(w.wants, id)
	}
	return freed, nil
}

func (w *limitWorld) Write(t *LimitTable) error {
	for _, l := range t.Lines() {
		w.lines[l.LimitKey] = l.LimitLine
	}
	for _, in := range t.Inserts() {
		c := &worldClaim{Want: *in.Want, ranks: in.Ranks}
		if in.Granted {
			c.granted = t.Now
		}
		w.wants[in.ID] = c
	}
	for _, g := range t.Grants() {
		w.wants[g.ID].granted = t.Now
	}
	w.writeSets(t.Sets())
	return nil
}

// round is a round of node 1 at a time; it returns the names of the wants that were granted.
func (w *limitWorld) round(at time.Time, r LimitRound) (granted string, a LimitAnswer) {
	w.t.Helper()
	w.now = at
	a, err := DoLimitRound(w, 1, &r, at)
	if err != nil {
		w.t.Fatal(err)
	}
	var names []string
	for _, id := range a.Granted {
		names = append(names, w.names[id])
	}
	slices.Sort(names)
	return strings.Join(names, " "), a
}

// TestWorkedExample is the example of docs/limits.md.
func TestWorkedExample(t *testing.T) {
	t.Parallel()
	clock := func(text string) time.Time {
		at, err := time.Parse("2006-01-02 15:04:05", "2026-05-01 "+text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	w := newLimitWorld(t, clock("12:00:00"),
		journal.Limit{Name: "api", Total: 4, Ageing: time.Minute}, journal.Limit{Name: "api", Key: "gold", Weight: 3},
		journal.Limit{Name: "budget", Rate: journal.Rate{N: 2, Per: time.Minute, Burst: 2}})
	gold, tin := journal.LimitNeed{Name: "api", Key: "gold", Cost: 1}, journal.LimitNeed{Name: "api", Key: "tin", Cost: 1}
	budget := func(cost int64) journal.LimitNeed { return journal.LimitNeed{Name: "budget", Cost: cost} }
	var wants []Want
	ends := map[string]LimitRelease{}
	for i, c := range []struct {
		name     string
		priority int16
		since    string
		needs    []journal.LimitNeed
	}{
		{"a", 3, "11:59:50", []journal.LimitNeed{gold}}, {"b", 3, "11:59:40", []journal.LimitNeed{gold}}, {"c", 5, "11:57:00", []journal.LimitNeed{gold}},
		{"d", 1, "11:59:59", []journal.LimitNeed{gold}}, {"e", 1, "11:59:30", []journal.LimitNeed{tin}},
		{"f", 3, "11:59:20", []journal.LimitNeed{tin, budget(3)}}, {"g", 3, "11:59:10", []journal.LimitNeed{budget(1)}},
	} {
		id := int64(i + 1)
		w.names[id] = c.name
		wants = append(wants, Want{ID: id, Run: journal.NewRunID(), Priority: c.priority, Since: clock(c.since), Needs: c.needs})
		ends[c.name] = LimitRelease{ID: id, Needs: c.needs}
	}
	step := func(at string, r LimitRound, want string) LimitAnswer {
		t.Helper()
		got, a := w.round(clock(at), r)
		if got != want {
			t.Errorf("at %s %q begin, want %q", at, got, want)
		}
		return a
	}
	step("12:00:00", LimitRound{Wants: wants}, "b c d e g")
	step("12:00:01", LimitRound{Releases: []LimitRelease{ends["c"]}}, "a")
	step("12:00:02", LimitRound{Releases: []LimitRelease{ends["e"]}}, "")
	a := step("12:00:29", LimitRound{Look: []LimitKey{{"budget", ""}}}, "")
	if due := a.Due[LimitKey{"budget", ""}]; !due.Equal(clock("12:00:30")) {
		t.Errorf("budget is due at %s", due)
	}
	step("12:00:30", LimitRound{Look: []LimitKey{{"budget", ""}}}, "f")
}

// Whatever comes and goes, and whatever costs turn out to be, no window has more than N + Burst.
func TestRatesAreExactOverAnyWindow(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		chance := rand.New(rand.NewPCG(seed, 7))
		rate := journal.Rate{N: 1 + chance.Int64N(30), Per: time.Duration(1+chance.IntN(50)) * 97 * time.Millisecond, Burst: 1 + chance.Int64N(12)}
		start := time.Unix(1_800_000_000, 0)
		w := newLimitWorld(t, start, journal.Limit{Name: "r", Rate: rate})
		type begun struct {
			at         time.Time
			cost, used int64
			id         int64
		}
		var list []begun
		at, last, largest := start, int64(0), int64(0)
		costs := map[int64]int64{}
		for range 300 {
			at = at.Add(time.Duration(chance.Int64N(int64(rate.Per) / rate.N * 2)))
			var r LimitRound
			if last++; chance.IntN(3) > 0 {
				costs[last] = 1 + chance.Int64N(rate.Burst)
				r.Wants = []Want{{ID: last, Run: journal.NewRunID(), Priority: 3, Since: at, Needs: []journal.LimitNeed{{Name: "r", Cost: costs[last]}}}}
			}
			if n := len(list); n > 0 && chance.IntN(3) == 0 {
				b := &list[chance.IntN(n)]
				if b.id != 0 {
					b.used = 1 + chance.Int64N(b.cost)
					r.Releases = []LimitRelease{{ID: b.id, Needs: []journal.LimitNeed{{Name: "r", Cost: b.used}}}}
					b.id = 0
				}
			}
			r.Look = []LimitKey{{"r", ""}}
			_, a := w.round(at, r)
			for _, id := range a.Granted {
				list = append(list, begun{at, costs[id], costs[id], id})
				largest = max(largest, costs[id])
			}
		}
		if len(list) < 20 {
			t.Fatalf("seed %d: only %d have begun", seed, len(list))
		}
		for i := range list {
			sum := int64(0)
			for j := i; j < len(list) && list[j].at.Sub(list[i].at) < rate.Per; j++ {
				sum += list[j].used
			}
			if most := rate.N + max(rate.Burst, largest); sum > most {
				t.Fatalf("seed %d: %d begin within %s of a rate of %s", seed, sum, rate.Per, rate)
			}
		}
	}
}

// Numbers of all sizes neither overflow nor let more through.
func TestSpansOfRates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r    journal.Rate
		cost int64
		want int64
	}{
		{journal.Rate{N: 1, Per: time.Second}, 1, 1_000_000},
		{journal.Rate{N: 3, Per: time.Second}, 1, 333_334},
		{journal.Rate{N: 3, Per: time.Second}, 3, 1_000_000},
		{journal.Rate{N: journal.LimitCostMax, Per: time.Millisecond}, 1, 1},
		{journal.Rate{N: 1, Per: journal.LimitPerMax}, journal.LimitCostMax, 1 << 60},
		{journal.Rate{N: 7, Per: journal.LimitPerMax}, 7, journal.LimitPerMax.Microseconds()},
	} {
		if got := span(c.r, c.cost); got != c.want {
			t.Errorf("cost %d at %s takes %d µs, want %d", c.cost, c.r, got, c.want)
		}
	}
}

// A greedy key of a Total delays a small one by no more than its share.
func TestASmallKeyWaitsForItsShare(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0)
	w := newLimitWorld(t, at, journal.Limit{Name: "s", Total: 10})
	need := func(key string) []journal.LimitNeed { return []journal.LimitNeed{{Name: "s", Key: key, Cost: 1}} }
	id := int64(0)
	add := func(key string, n int) (list []Want) {
		for range n {
			id++
			w.names[id] = key
			list = append(list, Want{ID: id, Run: journal.NewRunID(), Priority: 3, Since: at.Add(time.Duration(id) * time.Millisecond), Needs: need(key)})
		}
		return list
	}
	w.round(at, LimitRound{Wants: add("greedy", 900)})
	var small []Want
	for i := range 9 {
		small = append(small, add(fmt.Sprint("small", i), 10)...)
	}
	w.round(at, LimitRound{Wants: small})
	rounds, left := 0, len(small)
	for ; left > 0; rounds++ { // all that is held ends, and as much begins
		at = at.Add(time.Second)
		var r LimitRound
		for id, c := range w.wants {
			if !c.granted.IsZero() {
				r.Releases = append(r.Releases, LimitRelease{ID: id, Needs: c.Needs})
			}
		}
		_, a := w.round(at, r)
		for _, id := range a.Granted {
			if w.names[id] != "greedy" {
				left--
			}
		}
	}
	if rounds > 11 { // ten keys share ten places: each small one needs ten rounds
		t.Errorf("small keys needed %d rounds, the ideal is 10", rounds)
	}
}

// What many steps have used beyond all measure keeps a rate closed, and does not open it.
func TestRatesDoNotOverflow(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0)
	w := newLimitWorld(t, at, journal.Limit{Name: "r", Rate: journal.Rate{N: 1, Per: journal.LimitPerMax, Burst: 8}})
	var wants []Want
	var r LimitRound
	for id := int64(1); id <= 8; id++ {
		wants = append(wants, Want{ID: id, Run: journal.NewRunID(), Priority: 3, Since: at, Needs: []journal.LimitNeed{{Name: "r", Cost: 1}}})
		r.Releases = append(r.Releases, LimitRelease{ID: id, Needs: []journal.LimitNeed{{Name: "r", Cost: journal.LimitCostMax}}})
	}
	if _, a := w.round(at, LimitRound{Wants: wants}); len(a.Granted) != 8 {
		t.Fatalf("%d begin, want the burst", len(a.Granted))
	}
	r.Wants = []Want{{ID: 9, Run: journal.NewRunID(), Priority: 3, Since: at, Needs: []journal.LimitNeed{{Name: "r", Cost: 1}}}}
	if _, a := w.round(at, r); len(a.Granted) != 0 {
		t.Error("one begins although the rate is used up for ever")
	}
}
