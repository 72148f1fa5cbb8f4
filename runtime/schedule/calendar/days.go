package calendar

import (
	"fmt"
	"strconv"
	"strings"
)

// setDays reads the field day into the rule: numbers, L and L-n.
func (r *rule) setDays(text string) error {
	r.anyDay = text == "*" || text == "?"
	for part := range strings.SplitSeq(text, ",") {
		if part != "L" && part != "l" && !strings.HasPrefix(part, "L-") && !strings.HasPrefix(part, "l-") {
			if err := dayField.each(part, func(n int) { r.days |= 1 << n }); err != nil {
				return err
			}
			continue
		}
		before := 0
		if len(part) > 1 {
			n, err := strconv.Atoi(part[2:])
			if err != nil || n < 1 || n > 30 {
				return fmt.Errorf("day %q: the number of days before the last one must be from 1 to 30", part)
			}
			before = n
		}
		r.lastDays |= 1 << before
	}
	return nil
}

// setWeekdays reads the field weekday into the rule: numbers and names, fri#2 and friL.
func (r *rule) setWeekdays(text string) error {
	r.anyWeekday = text == "*" || text == "?"
	for part := range strings.SplitSeq(text, ",") {
		day, nth, numbered := strings.Cut(part, "#")
		last := len(part) > 1 && (part[len(part)-1] == 'L' || part[len(part)-1] == 'l')
		switch {
		case numbered:
			n, err := strconv.Atoi(nth)
			if err != nil || n < 1 || n > 5 {
				return fmt.Errorf("weekday %q: the number behind # must be from 1 to 5", part)
			}
			d, err := weekdayField.number(day)
			if err != nil {
				return err
			}
			r.nth[d%7] |= 1 << n
		case last:
			d, err := weekdayField.number(part[:len(part)-1])
			if err != nil {
				return err
			}
			r.nth[d%7] |= 1 << lastOfMonth
		default:
			if err := weekdayField.each(part, func(n int) { r.weekdays |= 1 << (n % 7) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// setYears reads the field year into the rule.
func (r *rule) setYears(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		err := yearField.each(part, func(n int) { r.years[(n-yearMin)/64] |= 1 << ((n - yearMin) % 64) })
		if err != nil {
			return err
		}
	}
	return nil
}
