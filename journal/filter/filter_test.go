package filter_test

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/filter"
)

// texts are filters of every form.
var texts = []string{
	"",
	`workflow = "order" and status in ("failed", "blocked") and total > 100 and error.class = "Timeout" and closed between -2d and now order by duration desc`,
	`a = 1 or b = 2 and c = 3`, `(a = 1 or b = 2) and not c = 3`, `not (a = 1 and not (b = 2 or c = 3))`, `not not a = 1`,
	`key starts with "order-" order by created asc`, `key IS NOT SET Or not parent is set ORDER BY closed`,
	`label.status = "x" and label."a \"b\" \\" = 'it''s'`, `label."é" is set`, `label.order = true`, `label.label.x = 1`, `label.worflow = "x"`,
	`duration between 1h30m and 2w3d4h5m6s7ms8us`, `deadline < +90m or created >= 2026-11-28T10:00:00.5+02:00`,
	`id in ("0193a2c8-7f55-7000-8000-000000000001", 0193a2c8-7f55-7000-8000-000000000002)`, `n in (1, "1", true, 2026-11-28, -2d)`,
	`x = -00.50 and y != +7`, "x = \"tab\\t newline\\n\"", `node = 3`,
}

// TestRoundTrip: a filter that is printed is read as the same filter.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, text := range texts {
		if strings.Contains(text, "''") { // two texts side by side are no filter, see TestErrors
			text = strings.ReplaceAll(text, "''", `\'`)
		}
		roundTrip(t, text)
	}
}

func roundTrip(t *testing.T, text string) {
	t.Helper()
	f, err := filter.Parse(text)
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	again, err := filter.Parse(f.String())
	if err != nil {
		t.Errorf("%s is printed as %s: %v", text, f, err)
		return
	}
	if diff := cmp.Diff(f, again); diff != "" {
		t.Errorf("%s is printed as %s, which is another one (-want +got):\n%s", text, f, diff)
	}
}

// TestPrinted: precedence and forms are those that a person expects.
func TestPrinted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`a = 1 or b = 2 and c = 3`:       `a = 1 or (b = 2 and c = 3)`,
		`not a = 1 and b = 2`:            `not a = 1 and b = 2`,
		`closed between -36h and NOW`:    `closed between -1d12h and now`,
		`status = failed`:                `status = "failed"`,
		`created > 2026-11-28`:           `created > 2026-11-28T00:00:00Z`,
		`key is not set`:                 `key is not set`,
		`label.version = 1`:              `label.version = 1`,
		`label.total = 1`:                `total = 1`,
		`order by duration`:              `order by duration desc`,
		`label.And = 1`:                  `label.And = 1`,
		`x = 'a"b' order BY created asc`: `x = "a\"b" order by created asc`,
	} {
		f, err := filter.Parse(text)
		if err != nil || f.String() != want {
			t.Errorf("%s: got %v (%v), want %s", text, f, err, want)
		}
	}
}

// TestErrors: an error says where, and what would be right there.
func TestErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`worflow = "x"`:                      `column 1, at "worflow = \"x\"": there is no field "worflow"; is workflow meant? Write label.worflow if it is a label`,
		`error.clas = "x"`:                   `is error.class meant?`,
		`status = "broken"`:                  `column 10, at "\"broken\"": expected one of "open", "completed", "failed", "cancelled", "terminated", "blocked", "quarantined", "paused", "limited" to compare status with`,
		`workflow = order`:                   `column 12, at "order": expected a text in quotes to compare workflow with`,
		`version = 1.5`:                      `a whole number to compare version with`,
		`version = 1234567890123456789`:      `a whole number to compare version with`,
		`closed > 2d`:                        `a distance from now such as -2d`,
		`closed > -3000000h`:                 `a distance from now`,
		`duration > 5`:                       `a duration such as 90s or 1h30m`,
		`total > 5m`:                         `to compare label total with`,
		`total > "5"`:                        `compares numbers, times and durations`,
		`workflow < "x"`:                     `compares numbers, times and durations`,
		`key like "x%"`:                      `there are no patterns: write starts with "x"`,
		`key starts with ""`:                 `write is set`,
		`total starts with 5`:                `starts with is for texts`,
		`id starts with "0193"`:              `the id of a run`,
		`x between 1 and 2026-11-28`:         `between needs two numbers, two times or two durations`,
		`workflow is set`:                    `every run has workflow: the question is for closed, deadline`,
		`and`:                                `expected a condition, such as status = "failed"; the fields are closed, created`,
		`a = 1 b = 2`:                        `column 7, at "b = 2": expected and, or, order by, or the end`,
		`a = 1 and`:                          `at its end: expected a condition`,
		`(a = 1`:                             `at its end: expected )`,
		`a`:                                  `at its end: expected an operator`,
		`a in (1`:                            `at its end: expected )`,
		`a in ()`:                            `expected a text in quotes`,
		`a = "x`:                             `has no closing quote`,
		`a = 'x\`:                            `has no closing quote`,
		`a = "\x"`:                           `a backslash stands before`,
		`a = 'it''s'`:                        `column 9`,
		`a == 1`:                             `column 4, at "= 1"`,
		`a ~ 1`:                              `no part of a filter begins like this`,
		`ä = 1`:                              `no part of a filter begins like this`,
		`label. x = 1`:                       `the name of a label directly behind label.`,
		`label."" = 1`:                       `has 1 to 64 bytes`,
		`order by key`:                       `expected created, closed or duration`,
		`order created`:                      `expected by`,
		`a = 1 order by closed desc, key`:    `expected and, or, order by, or the end`,
		"a = \"\x00\"":                       `no zero byte`,
		"a = \"\xff\"":                       `UTF-8`,
		`created = 2026-02-30`:               `expected a time`,
		`created = 10000-01-01`:              `expected a time`,
		`a = 99999999999999999999d`:          `to compare label a with`,
		strings.Repeat("(", 33) + "a = 1":    `33 parentheses and nots inside each other exceed the limit of 32`,
		strings.Repeat("not ", 33) + "a = 1": `exceed the limit of 32`,
		"a in (1" + strings.Repeat(",1", 200) + ")":  `conditions and values exceed the limit of 200`,
		"a=1" + strings.Repeat(" and a=1", 200):      `conditions and values exceed the limit of 200`,
		"a = \"" + strings.Repeat("x", 8<<10) + "\"": `8198 bytes exceed the limit of 8192`,
		strings.Repeat("l", 65) + " = 1":             `has 1 to 64 bytes`,
	} {
		_, err := filter.Parse(text)
		if _, is := errors.AsType[*filter.Error](err); !is || !errors.Is(err, journal.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v\nwant %s", text, err, want)
		}
	}
}

// TestCompareNumbers compares labels with numbers as exact fractions.
func TestCompareNumbers(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	number := func() string {
		text := []string{"", "-", "+"}[r.IntN(3)]
		for range 1 + r.IntN(4) {
			text += string(rune('0' + r.IntN(3)*3))
		}
		if r.IntN(2) == 0 {
			text += "."
			for range 1 + r.IntN(3) {
				text += string(rune('0' + r.IntN(3)*3))
			}
		}
		return text
	}
	for range 20_000 {
		a, b := number(), number()
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		run := &journal.Run{Labels: map[string]string{"n": a}}
		for op, want := range map[string]bool{"<": x.Cmp(y) < 0, "=": x.Cmp(y) == 0, ">=": x.Cmp(y) >= 0} {
			if matches(t, "n "+op+" "+b, run) != want {
				t.Fatalf("%s %s %s is %v", a, op, b, !want)
			}
		}
	}
}

// TestPositive: an expression without Not selects what the one with Not does.
func TestPositive(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	var expr func(depth int) string
	expr = func(depth int) string {
		switch r.IntN(4) {
		case 0:
			if depth > 0 {
				return "not (" + expr(depth-1) + ")"
			}
		case 1:
			if depth > 0 {
				return "(" + expr(depth-1) + ") and (" + expr(depth-1) + ")"
			}
		case 2:
			if depth > 0 {
				return "(" + expr(depth-1) + ") or (" + expr(depth-1) + ")"
			}
		}
		return "label." + string(rune('a'+r.IntN(4))) + []string{" = true", " != true", " is set"}[r.IntN(3)]
	}
	for range 3_000 {
		run := &journal.Run{Labels: map[string]string{}}
		for _, name := range "abcd" {
			if v := []string{"", "true", "false"}[r.IntN(3)]; v != "" {
				run.Labels[string(name)] = v
			}
		}
		f, err := filter.Parse(expr(5))
		if err != nil {
			t.Fatal(err)
		}
		if filter.Match(f.Where, run) != filter.Match(filter.Positive(f.Where), run) {
			t.Fatalf("%s of %v", f, run.Labels)
		}
	}
}

func matches(t *testing.T, text string, run *journal.Run) bool {
	t.Helper()
	f, err := filter.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return filter.Match(f.At(time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)).Where, run)
}

// TestMatch: what conditions mean, for a run that failed and one that is open.
func TestMatch(t *testing.T) {
	t.Parallel()
	at := func(hour int) time.Time { return time.Date(2026, 11, 28, hour, 0, 0, 0, time.UTC) }
	failure := &journal.Failure{Type: "*fmt.wrapError", Cause: &journal.Failure{Type: journal.FailureTimeout, Is: []string{"late"}, As: "pay"}}
	failed := &journal.Run{
		Key: "k1", Workflow: "order", Version: 2, Status: journal.Failed, CreatedAt: at(1), StartAt: at(2), ClosedAt: at(4), Timeout: time.Hour,
		Labels: map[string]string{"total": "100.50", "region": "de"}, Terminal: &journal.Event{Kind: journal.RunFailed, Payload: journal.EncodeFailure(failure)},
	}
	open := &journal.Run{Workflow: "order", Version: 1, Generation: 3, CreatedAt: at(11), StartAt: at(13), Parent: &journal.Parent{Run: journal.RunID{1}},
		Task: &journal.Task{State: journal.Blocked, Owner: 7, Waiting: []string{"signal go", "timer 2026-11-28T13:00:00Z"}}}
	for text, want := range map[string][2]bool{
		"": {true, true}, `key = "k1"`: {true, false}, `key != "k1"`: {false, false}, `not key = "k1"`: {false, true}, `key is set`: {true, false},
		`status = failed`: {true, false}, `status != failed`: {false, true}, `status in (open, completed)`: {false, true}, `status = blocked`: {false, true},
		`status = quarantined`: {false, false}, `status = paused`: {false, false}, `status = limited`: {false, false}, `version >= 2`: {true, false}, `generation = 3`: {false, true}, `node = 7`: {false, true}, `node != 7`: {false, false},
		`created < 2026-11-28T01:00:00Z`: {false, false}, `created <= 2026-11-28T02:00:00+01:00`: {true, false}, `started > now`: {false, true},
		`closed between -8h and now`: {true, false}, `closed > -8h`: {false, false}, `closed is not set`: {false, true}, `duration = 2h`: {true, false}, `duration < 1w`: {true, false},
		`deadline = 2026-11-28T03:00:00Z`: {true, false}, `deadline is set`: {true, false}, `parent is set`: {false, true}, `parent = "01000000-0000-0000-0000-000000000000"`: {false, true},
		`total = 100.5`: {true, false}, `total = "100.5"`: {false, false}, `total > 99 and total < 101`: {true, false}, `total < 2026-11-28`: {false, false}, `total != 7`: {true, false},
		`region != "fr"`: {true, false}, `region != 5`: {false, false}, `region in ("fr", "de")`: {true, false}, `region starts with "d"`: {true, false}, `region is not set`: {false, true},
		`error.class = "Timeout"`: {true, false}, `error.class = "reprise.Timeout"`: {true, false}, `error.class in ("x", "late")`: {true, false}, `error.class = "pay"`: {true, false},
		`error.class != "x"`: {true, false}, `error.class != "late"`: {false, false}, `error.class is set`: {true, false},
		`waiting = "timer"`: {false, true}, `waiting starts with "signal"`: {false, true}, `waiting != "step"`: {false, true}, `waiting = "timer 2026-11-28T13:00:00Z"`: {false, false},
	} {
		if got := [2]bool{matches(t, text, failed), matches(t, text, open)}; got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

// FuzzParse: no text makes the parser fail otherwise than with an error, and what it reads it reads
// again when it is printed.
func FuzzParse(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := filter.Parse(text)
		if err != nil {
			if !errors.Is(err, journal.ErrInvalid) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if printed := parsed.String(); len(printed) <= filter.TextBytesMax {
			roundTrip(t, printed)
		}
	})
}
