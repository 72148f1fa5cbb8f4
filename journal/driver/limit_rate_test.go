package driver

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// What is carried over is an amount, whatever the sizes, and no change gives more than it allows.
func TestReadyOfAnotherRate(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	at := func(d time.Duration) int64 { return now.Add(d).UnixMicro() }
	per := func(n int64, per time.Duration, burst int64) journal.Rate {
		return journal.Rate{N: n, Per: per, Burst: burst}
	}
	for what, c := range map[string]struct {
		ready   int64
		was, is journal.Rate
		want    int64
	}{
		"raised":                      {at(time.Hour), per(1, time.Hour, 1), per(1000, time.Second, 100), at(time.Millisecond)},
		"doubled":                     {at(24 * time.Hour), per(1000, 24*time.Hour, 1000), per(2000, 24*time.Hour, 2000), at(12 * time.Hour)},
		"lowered, within the burst":   {at(4 * time.Minute), per(60, time.Hour, 10), per(6, time.Hour, 10), at(40 * time.Minute)},
		"lowered, a full burst":       {at(time.Second), per(1000, time.Second, 1000), per(10, time.Minute, 10), at(time.Minute)},
		"lowered, beyond the burst":   {at(3 * time.Hour), per(60, time.Hour, 10), per(6, time.Hour, 10), at(3 * time.Hour)},
		"the same, in other words":    {at(time.Minute), per(60, time.Hour, 10), per(1, time.Minute, 10), at(time.Minute)},
		"over":                        {at(-time.Minute), per(1, time.Hour, 1), per(1, time.Minute, 1), 0},
		"the first":                   {at(time.Hour), journal.Rate{}, per(1, time.Hour, 1), 0},
		"none any more":               {at(time.Hour), per(1, time.Hour, 1), journal.Rate{}, 0},
		"a part of a cost is rounded": {at(time.Second), per(1, time.Minute, 1), per(1, time.Millisecond, 1), at(17 * time.Microsecond)},
		"beyond any time":             {2 * spanMax, per(1, journal.LimitPerMax, 1), per(1, journal.LimitPerMax, journal.LimitCostMax), 2 * spanMax},
	} {
		if got := LimitReady(c.ready, now, c.was, c.is); got != c.want {
			t.Errorf("%s: ready %s from now, want %s", what, time.UnixMicro(got).Sub(now), time.UnixMicro(c.want).Sub(now))
		}
	}
}

// Whatever comes, goes, is settled and changes, no window behind a change has more than N + Burst
// of the present rate, and none across changes more than the largest of the rates allows.
func TestRatesThatChangeAreExact(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		chance := rand.New(rand.NewPCG(seed, 8))
		per := time.Duration(1+chance.IntN(50)) * 97 * time.Millisecond
		draw := func() journal.Rate {
			return journal.Rate{N: 1 + chance.Int64N(30), Per: per, Burst: 1 + chance.Int64N(12)}
		}
		rate := draw()
		start := time.Unix(1_800_000_000, 0)
		w := newLimitWorld(t, start, journal.Limit{Name: "r", Rate: rate})
		key := LimitKey{Name: "r"}
		type begun struct {
			at   time.Time
			used int64
			id   int64
			cost int64
		}
		type change struct {
			at   time.Time
			rate journal.Rate
		}
		var list []begun
		rates := []change{{start, rate}}
		at, last := start, int64(0)
		costs := map[int64]int64{}
		for range 400 {
			at = at.Add(time.Duration(1+chance.Int64N(int64(rate.Per)/rate.N*2)) + time.Microsecond)
			if chance.IntN(40) == 0 {
				was := w.limits[key]
				rate = draw()
				a := AdminAction{Kind: AdminSetLimit, Limit: &journal.Limit{Name: "r", Rate: rate, Weight: 1, Ageing: time.Minute}}
				if row, line := a.LimitChange(&was, &was), w.lines[key]; row.Rerates() {
					line.Ready, line.Rated = LimitReady(line.Ready, at, row.Was, row.Is), at.UnixMicro()
					w.lines[key] = line
				}
				w.limits[key] = *a.Limit
				rates = append(rates, change{at, rate})
				at = at.Add(time.Microsecond)
			}
			var r LimitRound
			if last++; chance.IntN(3) > 0 {
				costs[last] = 1 + chance.Int64N(rate.Burst)
				r.Wants = []Want{{ID: last, Run: journal.NewRunID(), Priority: 3, Since: at, Needs: []journal.LimitNeed{{Name: "r", Cost: costs[last]}}}}
			}
			if n := len(list); n > 0 && chance.IntN(3) == 0 {
				if b := &list[chance.IntN(n)]; b.id != 0 {
					b.used = chance.Int64N(b.cost + 1)
					r.Releases = []LimitRelease{{ID: b.id, Needs: []journal.LimitNeed{{Name: "r", Cost: b.used}}}}
					b.id = 0
				}
			}
			r.Look = []LimitKey{key}
			_, a := w.round(at, r)
			for _, id := range a.Granted {
				list = append(list, begun{at, costs[id], id, costs[id]})
			}
		}
		if len(list) < 20 || len(rates) < 3 {
			t.Fatalf("seed %d: only %d have begun at %d rates", seed, len(list), len(rates))
		}
		largest := int64(0)
		for _, b := range list {
			largest = max(largest, b.cost)
		}
		for i := range list {
			sum := int64(0)
			for j := i; j < len(list) && list[j].at.Sub(list[i].at) < per; j++ {
				sum += list[j].used
				n, burst := int64(0), largest
				for k, c := range rates { // those of the window
					if (k+1 == len(rates) || rates[k+1].at.After(list[i].at)) && !c.at.After(list[j].at) {
						n, burst = max(n, c.rate.N), max(burst, c.rate.Burst)
					}
				}
				if sum > n+burst {
					t.Fatalf("seed %d: %d begin within %s of rates that allow %d", seed, sum, per, n+burst)
				}
			}
		}
	}
}
