package calendar

import (
	"math/bits"
	"time"
)

// rule is a cron line or a list of fields: a set of times of the wall clock. Such a time is a
// number of seconds, as if the clock had never been set and stood in UTC, so a rule knows no zone.
type rule struct {
	text                                  string // for people
	seconds, minutes, hours, months, days uint64 // bit n for the number n
	lastDays                              uint64 // bit n for n days before the last one of a month
	weekdays                              uint64 // bit 0 for Sunday
	nth                                   [7]uint8
	years                                 [4]uint64 // from yearMin on
	anyDay, anyWeekday                    bool
	either                                bool // as in a cron line: if both days are restricted, one must fit
}

// lastOfMonth is the bit of rule.nth for the last one; bit n is for the nth.
const lastOfMonth = 0

// everyHour tells whether the rule names no hours.
func (r *rule) everyHour() bool { return r.hours == hourField.all() }

// wholeDays tells whether the rule fits a day at every time or at none.
func (r *rule) wholeDays() bool {
	return r.everyHour() && r.minutes == minuteField.all() && r.seconds == secondField.all()
}

// daysOf is the set of days of a month that fit.
func (r *rule) daysOf(year int, month time.Month) uint64 {
	y := year - yearMin
	if y < 0 || year > yearMax || r.years[y/64]>>(y%64)&1 == 0 || r.months>>month&1 == 0 {
		return 0
	}
	first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	inMonth := uint64(1)<<(last+1) - 2
	byDay := r.days & inMonth
	for set := r.lastDays; set != 0; set &= set - 1 {
		if day := last - bits.TrailingZeros64(set); day >= 1 {
			byDay |= 1 << day
		}
	}
	var byWeekday uint64
	for day := 1; day <= last; day++ {
		w := (int(first.Weekday()) + day - 1) % 7
		if r.weekdays>>w&1 != 0 || r.nth[w]>>((day+6)/7)&1 != 0 || r.nth[w]>>lastOfMonth&1 != 0 && day+7 > last {
			byWeekday |= 1 << day
		}
	}
	if r.either && !r.anyDay && !r.anyWeekday {
		return byDay | byWeekday
	}
	return byDay & byWeekday
}

const daySeconds = 24 * 60 * 60

// fits tells whether a time is one of the rule's.
func (r *rule) fits(local int64) bool {
	t := time.Unix(local, 0).UTC()
	return r.hours>>t.Hour()&1 != 0 && r.minutes>>t.Minute()&1 != 0 && r.seconds>>t.Second()&1 != 0 && r.fitsDay(t)
}

func (r *rule) fitsDay(t time.Time) bool { return r.daysOf(t.Year(), t.Month())>>t.Day()&1 != 0 }

// next returns the first of the rule's times that is not before from, if it is before end.
func (r *rule) next(from, end int64) (int64, bool) {
	t := time.Unix(from, 0).UTC()
	year, month, day := t.Date()
	second, today := r.nextInDay(t.Hour()*3600 + t.Minute()*60 + t.Second())
	for {
		set := r.daysOf(year, month) &^ (1<<day - 1)
		if set>>day&1 != 0 && !today {
			set &^= 1 << day
		}
		if set != 0 {
			found := bits.TrailingZeros64(set)
			if found != day || !today {
				second, _ = r.nextInDay(0)
			}
			at := time.Date(year, month, found, 0, 0, 0, 0, time.UTC).Unix() + int64(second)
			return at, at < end
		}
		if month++; month > time.December {
			year, month = year+1, time.January
		}
		day, today = 1, true
		second, _ = r.nextInDay(0)
		if year > yearMax || time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Unix() >= end {
			return 0, false
		}
	}
}

// nextInDay returns the first second of a day that fits and is not before from.
func (r *rule) nextInDay(from int) (int, bool) {
	hour, minute, second := from/3600, from/60%60, from%60
	if r.hours>>hour&1 != 0 {
		if r.minutes>>minute&1 != 0 {
			if s := r.seconds >> second; s != 0 {
				return hour*3600 + minute*60 + second + bits.TrailingZeros64(s), true
			}
		}
		if m := r.minutes >> (minute + 1); m != 0 {
			return hour*3600 + (minute+1+bits.TrailingZeros64(m))*60 + bits.TrailingZeros64(r.seconds), true
		}
	}
	if h := r.hours >> (hour + 1); h != 0 {
		return (hour+1+bits.TrailingZeros64(h))*3600 + bits.TrailingZeros64(r.minutes)*60 + bits.TrailingZeros64(r.seconds), true
	}
	return 0, false
}
