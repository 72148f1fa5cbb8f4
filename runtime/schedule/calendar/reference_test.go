package calendar_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/reprise-run/reprise/runtime/schedule/calendar"
)

var (
	allZones = flag.Bool("all-zones", false, "compare with the reference at every transition of every zone, which takes minutes")
	seed     = flag.Uint64("seed", 1, "of the specs that are compared with the reference")
)

// odd are zones whose clocks are set in unusual ways.
var odd = []string{
	"Australia/Lord_Howe", // half an hour
	"Pacific/Apia",        // a lost day
	"Africa/Casablanca",   // Ramadan
	"Africa/Cairo", "Antarctica/Troll", "Asia/Pyongyang", "America/Caracas", "Asia/Gaza",
}

// TestReference compares slots with two references, between 2000 and 2040, for zones and
// transitions that are known to be odd and a sample of the others, or for all.
//
// Around each transition the reference walks minute by minute, with every spec. All other days are
// compared as days: of each zone with one spec in turn, and without a zone with every spec. That is
// as strong: a spec says what the wall clock shows, which the days without a zone compare; a zone
// does no more to it than add an offset, which the days of zones compare; and the two have more to
// do with each other within shiftMax of a transition only, 26 hours, where all minutes of two days
// ahead and behind are walked.
func TestReference(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(*seed, 2))
	specs := make([]*drawn, 200)
	for i := range specs {
		specs[i] = draw(random)
	}
	every, turn := make([]int, len(specs)), 0
	for i := range every {
		every[i] = i
	}
	oneOf := func() []int {
		if !*allZones && random.IntN(500) != 0 {
			return nil
		}
		turn++
		return every[turn%len(specs):][:1]
	}
	all := func() []int {
		if !*allZones && random.IntN(1000) != 0 {
			return nil
		}
		return every
	}
	compared, days, kinds, seen := 0, 0, map[string]int{}, map[string]bool{}
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
		in := compiledIn(t, zone, specs)
		for n, at := range list {
			special := slices.Contains(odd, zone) && (n%9 == 0 || zone == "Pacific/Apia")
			if !*allZones && !special && random.IntN(40) != 0 {
				continue
			}
			w := walk(loc, at)
			kinds[w.kind()]++
			for i, d := range specs {
				if !*allZones && i%20 != n%20 && w.jumps < 12*60 { // the lost day with every spec
					continue
				}
				compared++
				compare(t, in[i], at, w, d)
			}
		}
		days += compareDays(t, loc, list, in, specs, oneOf)
		if *allZones {
			t.Logf("%s: %d comparisons of transitions and %d of days so far", zone, compared, days)
		}
		if t.Failed() {
			t.Fatalf("zone %s, seed %d", zone, *seed)
		}
	}
	days += compareDays(t, time.UTC, nil, compiledIn(t, "", specs), specs, all)
	t.Logf("%d comparisons of transitions, by kind: %v; %d of days", compared, kinds, days)
	for _, kind := range []string{"gap 30m0s", "gap 1h0m0s", "gap 24h0m0s", "repeat 30m0s", "repeat 1h0m0s"} {
		if kinds[kind] == 0 {
			t.Errorf("no transition of the kind %q was among them: %v", kind, kinds)
		}
	}
	if days < 1000 {
		t.Errorf("%d days have been compared", days)
	}
}

// compiledIn compiles specs for a zone.
func compiledIn(t *testing.T, zone string, specs []*drawn) (list []*calendar.Times) {
	t.Helper()
	for _, d := range specs {
		spec := d.spec
		spec.Zone = zone
		times, err := calendar.Compile(spec)
		if err != nil {
			t.Fatalf("%+v: %v", spec, err)
		}
		list = append(list, times)
	}
	return list
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

const (
	around = 2 * 24 * 60    // minutes ahead of a transition and behind it that are walked
	near   = around / 4 * 3 // and that are compared: what a gap of a whole day moves is inside of what was walked
	apart  = 26 * 60        // minutes from a transition on which days are compared as days, see shiftMax
)

// walked is what the wall clock shows at every minute around a transition.
type walked struct {
	from  time.Time
	shows []face            // the wall clock, by minute of real time
	at    map[int64][]int64 // minutes of real time, by what the clock shows
	jumps int64             // how far the clock jumped
	lost  []face            // what the clock did not show
}

// face is a minute of the wall clock.
type face struct {
	number                            int64 // of minutes, as if it had never been set
	minute, hour, day, weekday, month int
	inMonth                           int // days
}

func faceOf(number int64) face {
	t := time.Unix(number*60, 0).UTC()
	y, m, d := t.Date()
	return face{number, t.Minute(), t.Hour(), d, int(t.Weekday()), int(m), time.Date(y, m+1, 0, 0, 0, 0, 0, time.UTC).Day()}
}

func walk(loc *time.Location, transition time.Time) *walked {
	w := &walked{from: transition.Add(-around * time.Minute), at: map[int64][]int64{}}
	for i := range int64(2 * around) {
		now := w.from.Add(time.Duration(i) * time.Minute).In(loc)
		y, m, d := now.Date()
		shown := time.Date(y, m, d, now.Hour(), now.Minute(), 0, 0, time.UTC).Unix() / 60
		if i > 0 {
			before := w.shows[i-1].number
			w.jumps += shown - before - 1
			for lost := before + 1; lost < shown; lost++ {
				w.lost = append(w.lost, faceOf(lost))
			}
		}
		w.shows = append(w.shows, faceOf(shown))
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
func (w *walked) slots(d *drawn) (list []int64) {
	is := make([]bool, len(w.shows))
	for i := range w.shows {
		shown := &w.shows[i]
		for k := range d.lines {
			l := &d.lines[k]
			if !l.fits(shown) || d.excludes(shown) {
				continue
			}
			times := w.at[shown.number]
			switch {
			case len(times) < 2 || l.hours == upTo(24) || d.spec.Repeat == calendar.RepeatBoth:
				is[i] = true
			case d.spec.Repeat == calendar.RepeatSecond:
				is[times[1]] = true
			default:
				is[times[0]] = true
			}
		}
	}
	for i := range w.lost {
		shown := &w.lost[i]
		for k := range d.lines {
			l := &d.lines[k]
			if !l.fits(shown) || d.excludes(shown) || l.hours == upTo(24) {
				continue
			}
			switch d.spec.Gap {
			case calendar.GapSkip:
			case calendar.GapBefore:
				is[w.at[shown.number-w.jumps][0]] = true
			default:
				is[w.at[shown.number+w.jumps][0]] = true
			}
		}
	}
	for i, slot := range is {
		if slot && i >= around-near && i < around+near {
			list = append(list, int64(i))
		}
	}
	return list
}

// compare compares the slots around a transition.
func compare(t *testing.T, times *calendar.Times, at time.Time, w *walked, d *drawn) {
	t.Helper()
	want := w.slots(d)
	from := w.from.Add((around - near) * time.Minute)
	got := minutes(t, times, from, from.Add(2*near*time.Minute), w.from)
	if !slices.Equal(got, want) {
		t.Errorf("%+v in %s: around %s (%s) got the minutes %v, want %v", d.spec, times.Zone(), at, w.kind(), got, want)
	}
}

// minutes are the slots from one moment to ahead of another, in minutes behind a third.
func minutes(t *testing.T, times *calendar.Times, from, to, since time.Time) (list []int64) {
	t.Helper()
	for after := from.Add(-time.Second); ; {
		s, more := times.Next(after)
		if !more || !s.At.Before(to) {
			return list
		}
		if s.Omitted || !s.At.After(after) {
			t.Fatalf("behind %s comes %+v", after, s)
		}
		list, after = append(list, int64(s.At.Sub(since)/time.Minute)), s.At
	}
}

// compareDays compares the days between transitions, as far as they are apart from them, with those
// specs that pick gives for a day, and returns how many comparisons that were.
func compareDays(t *testing.T, loc *time.Location, list []time.Time, in []*calendar.Times, specs []*drawn, pick func() []int) (n int) {
	t.Helper()
	bounds := append([]time.Time{time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}, list...)
	bounds = append(bounds, time.Date(2041, 1, 1, 0, 0, 0, 0, time.UTC))
	for i := range bounds[1:] {
		_, seconds := bounds[i].In(loc).Zone()
		offset := int64(seconds) / 60
		from, to := bounds[i].Unix()/60+apart, bounds[i+1].Unix()/60-apart
		for from < to {
			day := (from + offset) / (24 * 60)
			end := min((day+1)*24*60-offset, to)
			for _, k := range pick() {
				n++
				want := specs[k].inDay(day, from+offset, end+offset)
				got := minutes(t, in[k], time.Unix(from*60, 0), time.Unix(end*60, 0), time.Unix((day*24*60-offset)*60, 0))
				if !slices.Equal(got, want) {
					t.Fatalf("%+v in %s: from %s on got the minutes %v, want %v", specs[k].spec, loc, time.Unix(from*60, 0).UTC(), got, want)
				}
			}
			from = end
		}
	}
	return n
}

// inDay is the reference for a day on which the clock is not set: the minutes of the day that are
// slots, from one minute of the wall clock to ahead of another.
func (d *drawn) inDay(day, from, to int64) (list []int64) {
	shown := faceOf(day * 24 * 60)
	lines := slices.DeleteFunc(slices.Clone(d.lines), func(l line) bool { return !l.fitsDay(&shown) })
	if len(lines) == 0 {
		return nil
	}
	for minute := max(from-day*24*60, 0); minute < min(to-day*24*60, 24*60); minute++ {
		shown.hour, shown.minute = int(minute/60), int(minute%60)
		for k := range lines {
			if lines[k].fits(&shown) && !d.excludes(&shown) {
				list = append(list, minute)
				break
			}
		}
	}
	return list
}
