package calendar_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/reprise-run/reprise/runtime/schedule/calendar"
)

// TestLast compares the newest slots of a stretch with those that one finds from its beginning.
func TestLast(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(*seed, 3))
	some, cut := 0, 0
	for range 300 {
		spec := draw(random).spec
		spec.Zone = "Europe/Berlin"
		if random.IntN(3) == 0 {
			spec.Every = []calendar.Interval{{Every: calendar.Duration(time.Duration(1+random.IntN(100)) * time.Minute)}}
		}
		times := mustCompile(t, spec)
		after := at(t, "2026-03-20 00:00:00").Add(time.Duration(random.IntN(14*86400)) * time.Second) // the clock is set on the 29th
		upTo := after.Add(time.Duration(random.IntN(3*86400)) * time.Second)
		n := 1 + random.IntN(40)
		var all, got []time.Time
		for s, more := times.Next(after); more && !s.At.After(upTo); s, more = times.Next(s.At) {
			all = append(all, s.At)
		}
		want := all[max(len(all)-n, 0):]
		for _, s := range times.Last(after, upTo, n) {
			got = append(got, s.At)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v: the last %d from %s to %s are %v, want %v", spec, n, after, upTo, got, want)
		}
		if len(want) > 0 {
			some++
		}
		if len(want) < len(all) {
			cut++
		}
	}
	if some < 100 || cut < 50 {
		t.Errorf("of 300 stretches %d have slots, %d too many", some, cut)
	}
}

// TestLastOfMany: the last slots of a stretch are found although it has billions. A walk through
// them would take an hour.
func TestLastOfMany(t *testing.T) {
	t.Parallel()
	times := mustCompile(t, calendar.Spec{On: []calendar.Fields{{Second: "*", Minute: "*", Hour: "*", Weekday: "mon-fri"}}})
	list := times.Last(at(t, "1970-01-01 00:00:00"), at(t, "2199-12-29 12:00:00"), 1000) // a Sunday
	if len(list) != 1000 || !list[999].At.Equal(at(t, "2199-12-27 23:59:59")) || !list[0].At.Equal(at(t, "2199-12-27 23:43:20")) {
		t.Errorf("the last of %d is %v", len(list), list[max(len(list)-1, 0)])
	}
}
