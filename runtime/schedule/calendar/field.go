package calendar

import (
	"fmt"
	"strconv"
	"strings"
)

// field is one column of a cron line: its numbers, and their names if they have some.
type field struct {
	name     string
	min, max int
	names    []string // the first one is that of min
}

var (
	secondField  = field{"second", 0, 59, nil}
	minuteField  = field{"minute", 0, 59, nil}
	hourField    = field{"hour", 0, 23, nil}
	dayField     = field{"day", 1, 31, nil}
	monthField   = field{"month", 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}}
	weekdayField = field{"weekday", 0, 7, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}} // 7 is Sunday, too
	yearField    = field{"year", yearMin, yearMax, nil}
)

// each calls take for every number that a part of a list says: "*", "5", "1-5", "*/15", "10-40/5",
// and "10/5", which goes to the end.
func (f *field) each(part string, take func(int)) error {
	base, stepText, stepped := strings.Cut(part, "/")
	lo, hi := f.min, f.max
	if f.name == weekdayField.name && base == "*" {
		hi = 6
	}
	if base != "*" && base != "?" {
		from, to, ranged := strings.Cut(base, "-")
		var err error
		if lo, err = f.number(from); err != nil {
			return err
		}
		switch {
		case ranged:
			if hi, err = f.number(to); err != nil {
				return err
			}
			if f.name == weekdayField.name && hi == 0 && lo > 0 {
				hi = 7 // fri-sun
			}
			if hi < lo {
				return fmt.Errorf("%s %q: the range goes backwards: write two ranges", f.name, part)
			}
		case !stepped:
			hi = lo
		}
	}
	step := 1
	if stepped {
		n, err := strconv.Atoi(stepText)
		if err != nil || n < 1 || n > f.max-f.min+1 {
			return fmt.Errorf("%s %q: the step must be a number from 1 to %d", f.name, part, f.max-f.min+1)
		}
		step = n
	}
	for n := lo; n <= hi; n += step {
		take(n)
	}
	return nil
}

// number reads a number or a name.
func (f *field) number(text string) (int, error) {
	for i, name := range f.names {
		if strings.EqualFold(text, name) {
			return f.min + i, nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < f.min || n > f.max || text[0] == '+' {
		known := ""
		if f.names != nil {
			known = fmt.Sprintf(", or a name from %s to %s", f.names[0], f.names[len(f.names)-1])
		}
		return 0, fmt.Errorf("%s %q: it must be a number from %d to %d%s", f.name, text, f.min, f.max, known)
	}
	return n, nil
}

// set reads a list into a set of bits.
func (f *field) set(text string) (set uint64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		if err := f.each(part, func(n int) { set |= 1 << n }); err != nil {
			return 0, err
		}
	}
	return set, nil
}

// all is the set of every number of the field.
func (f *field) all() uint64 { return 1<<(f.max+1) - 1<<f.min }
