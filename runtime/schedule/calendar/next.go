package calendar

import (
	"math"
	"slices"
	"time"
)

// Next returns the first slot behind a moment, false if there is none any more.
func (t *Times) Next(after time.Time) (Slot, bool) {
	for at := after.Unix(); ; {
		c, some := t.nextOf(at)
		if !some || !c.omitted {
			return t.slot(c), some
		}
		at = c.at
	}
}

// Preview returns the first n slots behind a moment, and between them those that daylight saving
// omits, with notes.
func (t *Times) Preview(after time.Time, n int) (list []Slot) {
	for at := after.Unix(); n > 0; {
		c, some := t.nextOf(at)
		if !some {
			break
		}
		if at = c.at; !c.omitted {
			n--
		}
		list = append(list, t.slot(c))
	}
	return list
}

// Last returns the newest n slots that are behind one moment and not behind another, the oldest of
// them first. It looks from the end, so what lies before these slots costs nothing, however many
// there are.
func (t *Times) Last(after, upTo time.Time, n int) []Slot {
	var list []Slot
	t.last(after.Unix(), upTo.Unix(), n, &list)
	slices.Reverse(list)
	return list
}

// last adds the newest slots of (after, upTo] to a list of at most n, the newest first. It halves
// what is left of the stretch: a half without slots ends with one question, so each slot takes
// about as many as the stretch can be halved.
func (t *Times) last(after, upTo int64, n int, list *[]Slot) {
	if len(*list) >= n || after >= upTo {
		return
	}
	first, some := t.Next(time.Unix(after, 0))
	if !some || first.At.Unix() > upTo {
		return
	}
	if after = first.At.Unix(); after < upTo {
		middle := after + (upTo-after)/2
		t.last(middle, upTo, n, list)
		t.last(after, middle, n, list)
	}
	if len(*list) < n {
		*list = append(*list, first)
	}
}

// forever is behind every moment.
const forever = math.MaxInt64

// nextOf returns the first candidate of any line behind a moment. Of two for the same moment the
// one that happens counts, and then the one that needs no words.
func (t *Times) nextOf(after int64) (best candidate, some bool) {
	best.at = forever
	if !t.spec.From.IsZero() {
		after = max(after, ceil(t.spec.From)-1)
	}
	take := func(c candidate) {
		if c.at < best.at || c.at == best.at && (best.omitted && !c.omitted || best.omitted == c.omitted && c.why < best.why) {
			best = c
		}
	}
	for _, r := range t.rules {
		t.search(r, after, take)
	}
	for i := range t.intervals {
		t.searchInterval(&t.intervals[i], after, take)
	}
	if best.at == forever || !t.spec.Until.IsZero() && best.at >= ceil(t.spec.Until) {
		return candidate{}, false
	}
	return best, true
}

// ceil is the first whole second that is not before a moment.
func ceil(at time.Time) int64 {
	if at.Nanosecond() > 0 {
		return at.Unix() + 1
	}
	return at.Unix()
}

// segment is a time in which the wall clock is not set: it shows UTC plus offset.
type segment struct{ start, end, offset int64 }

// segmentOf returns the segment that a moment is in. Where the zone goes on by a rule, package time
// also ends one with each year, which does no harm here; but in a leap year it does so a day early,
// so that the moments of that day are behind the end. Nothing changes in what is left of the year.
func (t *Times) segmentOf(at int64) segment {
	now := time.Unix(at, 0).In(t.loc)
	_, offset := now.Zone()
	s := segment{math.MinInt64, forever, int64(offset)}
	start, end := now.ZoneBounds()
	if !start.IsZero() {
		s.start = start.Unix()
	}
	if !end.IsZero() {
		if s.end = end.Unix(); s.end <= at {
			s.end = time.Date(now.UTC().Year()+1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
		}
	}
	return s
}

// shiftMax is more than a clock is ever set at once: further away from the ends of a segment it
// does not matter how the clock was set there.
const shiftMax = 26 * 60 * 60

// search finds the first moment of a rule behind another one. It goes through the segments: within
// one, moments and times of the wall clock correspond one to one, and what is special is at its
// ends. It begins a segment early where a gap could move times past its own segment.
func (t *Times) search(r *rule, after int64, take func(candidate)) {
	s := t.segmentOf(after)
	if s.start != math.MinInt64 && after < s.start+shiftMax {
		s = t.segmentOf(s.start - 1)
	}
	found := int64(forever)
	for {
		t.searchSegment(r, s, after, func(c candidate) {
			if c.at > after {
				found = min(found, c.at)
				take(c)
			}
		})
		if found < s.end || s.end == forever || s.end > lastSecond {
			return
		}
		s = t.segmentOf(s.end)
	}
}

// lastSecond is the end of every search.
var lastSecond = time.Date(yearMax+1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()

// searchSegment gives the first moment of a rule in a segment that is behind another one, and the
// first one that the gap at its beginning and the gap at its end move.
func (t *Times) searchSegment(r *rule, s segment, after int64, take func(candidate)) {
	before, behind := s.offset, s.offset // offsets of the neighbours
	if s.start != math.MinInt64 && after < s.start+shiftMax {
		before = t.segmentOf(s.start - 1).offset
	}
	if gap := s.offset - before; gap > 0 && !r.everyHour() && t.spec.Gap != GapBefore {
		// What the clock leaves out at the beginning, [start+before, start+offset), runs later by
		// gap, which is what it would be had the clock not been set.
		if local, some := t.allowed(r, max(s.start, after+1)+before, s.start+s.offset); some {
			take(candidate{local - before, local, moved, t.spec.Gap == GapSkip})
		}
	}
	local, some := int64(0), false
	if from, to := max(s.start, after+1), min(s.end, lastSecond); from < to {
		local, some = t.allowed(r, from+s.offset, to+s.offset)
	}
	if s.end != forever && (!some || local-s.offset >= s.end-shiftMax) {
		behind = t.segmentOf(s.end).offset
	}
	if some {
		c := candidate{local - s.offset, local, plain, false}
		switch {
		case r.everyHour():
		case local < s.start+before && before > s.offset:
			c.why, c.omitted = second, t.spec.Repeat != RepeatSecond && t.spec.Repeat != RepeatBoth
		case local >= s.end+behind && behind < s.offset:
			c.why, c.omitted = first, t.spec.Repeat == RepeatSecond
		}
		take(c)
	}
	if gap := behind - s.offset; gap > 0 && !r.everyHour() && t.spec.Gap == GapBefore {
		if local, some := t.allowed(r, max(s.end-gap, after+1)+behind, s.end+behind); some {
			take(candidate{local - behind, local, moved, false})
		}
	}
}

// allowed returns the first time of a rule that is not before from, is before end, and is not
// excluded.
func (t *Times) allowed(r *rule, from, end int64) (local int64, some bool) {
	for range excludedMax {
		local, some = r.next(from, end)
		if !some {
			return 0, false
		}
		excluded, wholeDay := t.excludes(local)
		if !excluded {
			return local, true
		}
		if from = local + 1; wholeDay {
			from = (local/daySeconds + 1) * daySeconds
		}
	}
	return 0, false
}

// excludes tells whether a time is excluded, and whether its whole day is.
func (t *Times) excludes(local int64) (excluded, wholeDay bool) {
	if len(t.except) == 0 || local < 0 {
		return false, false
	}
	day, second := dateOf(local), int(local%daySeconds)
	for _, r := range t.except {
		if r.wholeDays() && r.fitsDay(day) {
			return true, true
		}
		excluded = excluded || r.fits(second, day)
	}
	return excluded, false
}

// searchInterval finds the first moment of an interval behind another one.
func (t *Times) searchInterval(x *Interval, after int64, take func(candidate)) {
	every, offset := int64(time.Duration(x.Every)/time.Second), int64(time.Duration(x.Offset)/time.Second)
	for range excludedMax {
		past := (after - offset) % every
		if past < 0 {
			past += every
		}
		at := after - past + every
		if at >= lastSecond {
			return
		}
		if len(t.except) == 0 {
			take(candidate{at: at})
			return
		}
		local := at + t.segmentOf(at).offset
		excluded, wholeDay := t.excludes(local)
		if !excluded {
			take(candidate{at: at, local: local})
			return
		}
		if after = at; wholeDay { // the clock may be set meanwhile: an hour early finds the same day again
			after = max(at, at+daySeconds-local%daySeconds-2*3600)
		}
	}
}
