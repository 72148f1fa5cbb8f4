package calendar_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/reprise-run/reprise/runtime/schedule/calendar"
)

var (
	allZones = flag.Bool("all-zones", false, "compare with the reference at every transition of every zone, which takes minutes")
	seed     = flag.Uint64("seed", 1, "of the specs that are compared with the reference")
)

// TestReference compares slots with a reference that walks minute by minute, around transitions of
// the zones between 2000 and 2040: those that are known to be odd and a sample of the others, or
// all.
func TestReference(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(*seed, 2))
	specs := make([]*drawn, 200)
	for i := range specs {
		specs[i] = draw(random)
	}
	odd := []string{
		"Australia/Lord_Howe", // half an hour
		"Pacific/Apia",        // a lost day
		"Africa/Casablanca",   // Ramadan
		"Africa/Cairo", "Antarctica/Troll", "Asia/Pyongyang", "America/Caracas", "Asia/Gaza",
	}
	compared, kinds, seen := 0, map[string]int{}, map[string]bool{}
	for _, zone := range calendar.Zones() {
		if !*allZones && !slices.Contains(odd, zone) && random.IntN(10) != 0 {
			continue
		}
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		list := transitions(loc)
		_, offset := time.Unix(0, 0).In(loc).Zone()
		if same := fmt.Sprint(list, offset); seen[same] {
			continue // another name of a zone
		} else {
			seen[same] = true
		}
		for n, at := range list {
			special := slices.Contains(odd, zone) && (n%9 == 0 || zone == "Pacific/Apia")
			if !*allZones && !special && random.IntN(40) != 0 {
				continue
			}
			w := walk(loc, at)
			kinds[w.kind()]++
			for i, d := range specs {
				if !*allZones && i%20 != n%20 {
					continue
				}
				compared++
				compare(t, zone, at, w, d)
			}
			if *allZones && n == 0 {
				t.Logf("%s: %d comparisons so far", zone, compared)
			}
			if t.Failed() {
				t.Fatalf("zone %s, transition %s, seed %d", zone, at, *seed)
			}
		}
	}
	t.Logf("all: %d comparisons, transitions by kind: %v", compared, kinds)
	for _, kind := range []string{"gap 30m0s", "gap 1h0m0s", "gap 24h0m0s", "repeat 30m0s", "repeat 1h0m0s"} {
		if kinds[kind] == 0 {
			t.Errorf("no transition of the kind %q was among them: %v", kind, kinds)
		}
	}
}

// transitions lists the moments at which the clock is set. It looks at the clock twice a day, and
// not at what package time says of the bounds of zones.
func transitions(loc *time.Location) (list []time.Time) {
	offset := func(at int64) int {
		_, offset := time.Unix(at, 0).In(loc).Zone()
		return offset
	}
	const half = 12 * 60 * 60
	end := time.Date(2041, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	for at := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix(); at < end; at += half {
		if offset(at) != offset(at+half) {
			n := sort.Search(half, func(n int) bool { return offset(at+int64(n)) != offset(at) })
			list = append(list, time.Unix(at+int64(n), 0).UTC())
		}
	}
	return list
}

const around = 2 * 24 * 60 // minutes ahead of a transition and behind it

// walked is what the wall clock shows at every minute around a transition.
type walked struct {
	from   time.Time
	shows  []int64           // minutes of the wall clock, by minute of real time
	at     map[int64][]int64 // minutes of real time, by what the clock shows
	jumps  int64             // how far the clock jumped
	lost   []int64           // minutes that the clock did not show
	behind time.Time         // the moment of the transition
}

func walk(loc *time.Location, transition time.Time) *walked {
	w := &walked{from: transition.Add(-around * time.Minute), at: map[int64][]int64{}, behind: transition}
	for i := range int64(2 * around) {
		now := w.from.Add(time.Duration(i) * time.Minute).In(loc)
		y, m, d := now.Date()
		shown := time.Date(y, m, d, now.Hour(), now.Minute(), 0, 0, time.UTC).Unix() / 60
		if i > 0 && shown != w.shows[i-1]+1 {
			w.jumps += shown - w.shows[i-1] - 1
			for lost := w.shows[i-1] + 1; lost < shown; lost++ {
				w.lost = append(w.lost, lost)
			}
		}
		w.shows = append(w.shows, shown)
		w.at[shown] = append(w.at[shown], i)
	}
	return w
}

func (w *walked) kind() string {
	if w.jumps > 0 {
		return fmt.Sprint("gap ", time.Duration(w.jumps)*time.Minute)
	}
	return fmt.Sprint("repeat ", time.Duration(-w.jumps)*time.Minute)
}

// slots is the reference: which minutes around the transition are slots.
func (w *walked) slots(d *drawn) []int64 {
	is := map[int64]bool{}
	for i, shown := range w.shows {
		for k := range d.lines {
			l := &d.lines[k]
			if !l.fits(shown) || d.excludes(shown) {
				continue
			}
			times := w.at[shown]
			switch {
			case len(times) < 2 || l.hours == upTo(24) || d.spec.Repeat == calendar.RepeatBoth:
				is[int64(i)] = true
			case d.spec.Repeat == calendar.RepeatSecond:
				is[times[1]] = true
			default:
				is[times[0]] = true
			}
		}
	}
	for _, shown := range w.lost {
		for k := range d.lines {
			l := &d.lines[k]
			if !l.fits(shown) || d.excludes(shown) || l.hours == upTo(24) {
				continue
			}
			switch d.spec.Gap {
			case calendar.GapSkip:
			case calendar.GapBefore:
				is[w.at[shown-w.jumps][0]] = true
			default:
				is[w.at[shown+w.jumps][0]] = true
			}
		}
	}
	list := []int64{}
	for i := range is {
		list = append(list, i)
	}
	slices.Sort(list)
	return list
}

// compare compares what lies a day around the transition, so that what the gap of a whole day moves
// is inside of what was walked.
func compare(t *testing.T, zone string, at time.Time, w *walked, d *drawn) {
	t.Helper()
	spec := d.spec
	spec.Zone = zone
	times, err := calendar.Compile(spec)
	if err != nil {
		t.Fatalf("%+v: %v", spec, err)
	}
	lo, hi := int64(around/4), int64(2*around-around/4)
	var want []int64
	for _, i := range w.slots(d) {
		if i >= lo && i < hi {
			want = append(want, i)
		}
	}
	var got []int64
	for after := w.from.Add(time.Duration(lo)*time.Minute - time.Second); ; {
		s, more := times.Next(after)
		if !more || !s.At.Before(w.from.Add(time.Duration(hi)*time.Minute)) {
			break
		}
		if s.Omitted || !s.At.After(after) {
			t.Fatalf("%+v: behind %s comes %+v", spec, after, s)
		}
		got, after = append(got, int64(s.At.Sub(w.from)/time.Minute)), s.At
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v: around %s (%s) got the minutes %v, want %v", spec, at, w.kind(), got, want)
	}
}

// drawn is a random spec, beside what it means to the reference.
type drawn struct {
	spec   calendar.Spec
	lines  []line
	except []line
}

func (d *drawn) excludes(shown int64) bool {
	return slices.ContainsFunc(d.except, func(l line) bool { return l.fits(shown) })
}

// line is what a line of a spec says, as sets of bits; 0 for all days.
type line struct {
	minutes, hours, days, weekdays uint64
	either                         bool
}

func (l *line) fits(shown int64) bool {
	t := time.Unix(shown*60, 0).UTC()
	day, weekday := l.days == 0 || l.days>>t.Day()&1 != 0, l.weekdays == 0 || l.weekdays>>t.Weekday()&1 != 0
	days := day && weekday
	if l.either && l.days != 0 && l.weekdays != 0 {
		days = day || weekday
	}
	return l.minutes>>t.Minute()&1 != 0 && l.hours>>t.Hour()&1 != 0 && days
}

// draw makes a random spec of one to three lines, whose hours are often those of transitions.
func draw(r *rand.Rand) *drawn {
	d := &drawn{}
	d.spec.Gap = []calendar.Gap{"", calendar.GapAfter, calendar.GapBefore, calendar.GapSkip}[r.IntN(4)]
	d.spec.Repeat = []calendar.Repeat{"", calendar.RepeatFirst, calendar.RepeatSecond, calendar.RepeatBoth}[r.IntN(4)]
	for range 1 + r.IntN(3) {
		l := line{}
		minute, hour, day, weekday := l.draw(r)
		d.lines = append(d.lines, l)
		if l.either = r.IntN(2) == 0; l.either {
			d.spec.Cron = append(d.spec.Cron, strings.Join([]string{minute, hour, day, "*", weekday}, " "))
			d.lines[len(d.lines)-1].either = true
			continue
		}
		d.spec.On = append(d.spec.On, calendar.Fields{Minute: calendar.Field(minute), Hour: calendar.Field(hour), Day: calendar.Field(day), Weekday: calendar.Field(weekday)})
	}
	if r.IntN(3) == 0 {
		l := line{}
		minute, hour, day, weekday := l.draw(r)
		if r.IntN(2) == 0 { // whole days
			minute, hour, l.minutes, l.hours = "*", "*", upTo(60), upTo(24)
		}
		d.except = append(d.except, l)
		d.spec.Except = append(d.spec.Except, calendar.Fields{Minute: calendar.Field(minute), Hour: calendar.Field(hour), Day: calendar.Field(day), Weekday: calendar.Field(weekday)})
	}
	return d
}

// draw draws the fields of a line, and returns them as text.
func (l *line) draw(r *rand.Rand) (minute, hour, day, weekday string) {
	some := func(n, below, from int) (set uint64, _ string) {
		text := []string{}
		for range 1 + r.IntN(n) {
			v := from + r.IntN(below)
			set |= 1 << v
			text = append(text, fmt.Sprint(v))
		}
		return set, strings.Join(text, ",")
	}
	l.minutes, minute = some(3, 60, 0)
	if step := []int{7, 15, 20}[r.IntN(3)]; r.IntN(3) == 0 {
		l.minutes, minute = 0, fmt.Sprint("*/", step)
		for m := 0; m < 60; m += step {
			l.minutes |= 1 << m
		}
	}
	switch r.IntN(4) {
	case 0:
		l.hours, hour = upTo(24), "*"
	case 1:
		l.hours, hour = some(3, 24, 0)
	default:
		l.hours, hour = some(2, 4, 0)
	}
	day, weekday = "*", "*"
	if r.IntN(4) == 0 {
		l.days, day = some(8, 31, 1)
	}
	if r.IntN(3) == 0 {
		l.weekdays, weekday = some(4, 7, 0)
	}
	return minute, hour, day, weekday
}

// upTo is the set of all numbers below n.
func upTo(n int) uint64 { return 1<<n - 1 }
