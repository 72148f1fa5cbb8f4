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

	// inMonth is the set of days that fit in a month, by its length less 28 and the weekday of its
	// first. It is asked for every slot, and there are no other months.
	inMonth [4][7]uint64
}

// lastOfMonth is the bit of rule.nth for the last one; bit n is for the nth.
const lastOfMonth = 0

// everyHour tells whether the rule names no hours.
func (r *rule) everyHour() bool { return r.hours == hourField.all() }

// wholeDays tells whether the rule fits a day at every time or at none.
func (r *rule) wholeDays() bool {
	return r.everyHour() && r.minutes == minuteField.all() && r.seconds == secondField.all()
}

// tabulate fills inMonth. It is called when all other fields are there.
func (r *rule) tabulate() {
	for length := range r.inMonth {
		for first := range r.inMonth[length] {
			r.inMonth[length][first] = r.daysFitting(28+length, first)
		}
	}
}

// daysFitting is the set of days that fit in a month of some length, by the weekday of its first.
func (r *rule) daysFitting(last, first int) uint64 {
	byDay := r.days & (uint64(1)<<(last+1) - 2)
	for set := r.lastDays; set != 0; set &= set - 1 {
		if day := last - bits.TrailingZeros64(set); day >= 1 {
			byDay |= 1 << day
		}
	}
	var byWeekday uint64
	for day := 1; day <= last; day++ {
		w := (first + day - 1) % 7
		if r.weekdays>>w&1 != 0 || r.nth[w]>>((day+6)/7)&1 != 0 || r.nth[w]>>lastOfMonth&1 != 0 && day+7 > last {
			byWeekday |= 1 << day
		}
	}
	if r.either && !r.anyDay && !r.anyWeekday {
		return byDay | byWeekday
	}
	return byDay & byWeekday
}

// daysOf is the set of days that fit in the month of a day.
func (r *rule) daysOf(d date) uint64 {
	y := d.year - yearMin
	if y < 0 || d.year > yearMax || r.years[y/64]>>(y%64)&1 == 0 || r.months>>d.month&1 == 0 {
		return 0
	}
	return r.inMonth[monthDays(d.year, d.month)-28][(d.number-int64(d.day)+1+thursday)%7]
}

// date is a day.
type date struct {
	number int64 // of days since the beginning of 1970, which was a Thursday
	year   int
	month  time.Month
	day    int
}

const thursday = 4

// dateOf returns the day of a time of the wall clock.
func dateOf(local int64) date {
	y, m, d := time.Unix(local, 0).UTC().Date()
	return date{local / daySeconds, y, m, d} // what is before 1970 fits no rule
}

func monthDays(year int, month time.Month) int {
	switch month {
	case time.April, time.June, time.September, time.November:
		return 30
	case time.February:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

const daySeconds = 24 * 60 * 60

// fits tells whether a time of a day is one of the rule's.
func (r *rule) fits(second int, day date) bool {
	return r.hours>>(second/3600)&1 != 0 && r.minutes>>(second/60%60)&1 != 0 && r.seconds>>(second%60)&1 != 0 && r.fitsDay(day)
}

func (r *rule) fitsDay(day date) bool { return r.daysOf(day)>>day.day&1 != 0 }

// next returns the first of the rule's times that is not before from, if it is before end.
func (r *rule) next(from, end int64) (int64, bool) {
	from = max(from, 0) // rules begin with 1970
	today := dateOf(from)
	second, some := r.nextInDay(int(from % daySeconds))
	midnight := from - from%daySeconds
	if some && r.fitsDay(today) {
		at := midnight + int64(second)
		return at, at < end
	}
	second, _ = r.nextInDay(0)
	for after := today.day; ; after = 0 {
		if set := r.daysOf(today) &^ (2<<after - 1); set != 0 {
			at := (today.number+int64(bits.TrailingZeros64(set)-today.day))*daySeconds + int64(second)
			return at, at < end
		}
		today.number += int64(monthDays(today.year, today.month) - today.day + 1)
		today.day = 1
		if today.month++; today.month > time.December {
			today.year, today.month = today.year+1, time.January
		}
		if today.year > yearMax || today.number*daySeconds >= end {
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
