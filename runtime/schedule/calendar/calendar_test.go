package calendar_test

import (
	"archive/zip"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/runtime/schedule/calendar"
)

var update = flag.Bool("update", false, "write zones.txt anew, from the zones of this Go")

func mustCompile(t testing.TB, s calendar.Spec) *calendar.Times {
	t.Helper()
	times, err := calendar.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return times
}

// at reads a time of UTC.
func at(t testing.TB, text string) time.Time {
	t.Helper()
	v, err := time.Parse("2006-01-02 15:04:05", text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestNext: what lines mean, in UTC.
func TestNext(t *testing.T) {
	t.Parallel()
	cron := func(lines ...string) calendar.Spec { return calendar.Spec{Cron: lines} }
	every := func(every, offset time.Duration) calendar.Spec {
		return calendar.Spec{Every: []calendar.Interval{{Every: calendar.Duration(every), Offset: calendar.Duration(offset)}}}
	}
	on := func(list ...calendar.Fields) calendar.Spec { return calendar.Spec{On: list} }
	for _, c := range []struct {
		name string
		spec calendar.Spec
		want []string
	}{
		{"every minute", cron("* * * * *"), []string{"2026-01-15 10:08:00", "2026-01-15 10:09:00"}},
		{"six fields", cron("*/20 * * * * *"), []string{"2026-01-15 10:07:40", "2026-01-15 10:08:00"}},
		{"hour and minute", cron("30 2 * * *"), []string{"2026-01-16 02:30:00", "2026-01-17 02:30:00"}},
		{"later today", cron("30 10 * * *"), []string{"2026-01-15 10:30:00", "2026-01-16 10:30:00"}},
		{"names and a list", cron("0 9 * feb,mar mon"), []string{"2026-02-02 09:00:00", "2026-02-09 09:00:00"}},
		{"a range over Sunday", cron("0 9 * * fri-sun"), []string{"2026-01-16 09:00:00", "2026-01-17 09:00:00", "2026-01-18 09:00:00", "2026-01-23 09:00:00"}},
		{"7 is Sunday", cron("0 9 * * 7"), []string{"2026-01-18 09:00:00"}},
		{"either day of cron", cron("0 0 20 * mon"), []string{"2026-01-19 00:00:00", "2026-01-20 00:00:00", "2026-01-26 00:00:00"}},
		{"both days of a list", on(calendar.Fields{Day: "20", Weekday: "mon"}), []string{"2026-04-20 00:00:00", "2026-07-20 00:00:00"}},
		{"from on with a step", cron("50/3 10 * * *"), []string{"2026-01-15 10:50:00", "2026-01-15 10:53:00"}},
		{"the last day", cron("0 0 L * *"), []string{"2026-01-31 00:00:00", "2026-02-28 00:00:00"}},
		{"two before the last", cron("0 0 L-2,1 * *"), []string{"2026-01-29 00:00:00", "2026-02-01 00:00:00", "2026-02-26 00:00:00"}},
		{"second Friday", cron("0 0 * * fri#2"), []string{"2026-02-13 00:00:00", "2026-03-13 00:00:00"}},
		{"fifth Sunday", cron("0 0 * * sun#5"), []string{"2026-03-29 00:00:00", "2026-05-31 00:00:00"}},
		{"last Friday", cron("0 0 * * friL"), []string{"2026-01-30 00:00:00", "2026-02-27 00:00:00"}},
		{"29 February", cron("0 0 29 2 *"), []string{"2028-02-29 00:00:00", "2032-02-29 00:00:00"}},
		{"29 February on a Monday", on(calendar.Fields{Month: "2", Day: "29", Weekday: "mon"}), []string{"2044-02-29 00:00:00", "2072-02-29 00:00:00"}},
		{"a year", on(calendar.Fields{Year: "2030-2031", Month: "jul", Day: "1"}), []string{"2030-07-01 00:00:00", "2031-07-01 00:00:00", "none"}},
		{"names of lines", cron("@monthly"), []string{"2026-02-01 00:00:00"}},
		{"an interval", every(15*time.Minute, 0), []string{"2026-01-15 10:15:00", "2026-01-15 10:30:00"}},
		{"an interval as cron", cron("@every 90s"), []string{"2026-01-15 10:07:30", "2026-01-15 10:09:00"}},
		{"an offset", every(time.Hour, 20*time.Minute), []string{"2026-01-15 10:20:00", "2026-01-15 11:20:00"}},
		{"several, united", cron("0 12 * * *", "0 11-12 * * *"), []string{"2026-01-15 11:00:00", "2026-01-15 12:00:00", "2026-01-16 11:00:00"}},
		{"whole days excluded", calendar.Spec{Cron: []string{"0 9 * * *"}, Except: []calendar.Fields{{Day: "16-17"}, {Weekday: "sun"}}},
			[]string{"2026-01-19 09:00:00"}},
		{"hours excluded", calendar.Spec{Cron: []string{"0 * * * *"}, Except: []calendar.Fields{{Hour: "11-13"}}},
			[]string{"2026-01-15 14:00:00"}},
		{"an interval with days excluded", calendar.Spec{Every: every(time.Second, 0).Every, Except: []calendar.Fields{{Day: "15-31"}}},
			[]string{"2026-02-01 00:00:00", "2026-02-01 00:00:01"}},
		{"more seconds excluded than are looked at", calendar.Spec{Cron: []string{"* * * * * *"}, Except: []calendar.Fields{{Month: "jan-nov"}}},
			[]string{"2026-12-01 00:00:00"}},
		{"all excluded", calendar.Spec{Cron: []string{"* * * * * *"}, Except: []calendar.Fields{{Hour: "0-11"}, {Hour: "12-23"}}}, []string{"none"}},
		{"bounds", calendar.Spec{Cron: []string{"0 0 * * *"}, From: at(t, "2026-02-01 00:00:00"), Until: at(t, "2026-02-03 00:00:00")},
			[]string{"2026-02-01 00:00:00", "2026-02-02 00:00:00", "none"}},
		{"a zone", calendar.Spec{Cron: []string{"30 2 * * *"}, Zone: "Asia/Kathmandu"}, []string{"2026-01-15 20:45:00"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			times, after, got := mustCompile(t, c.spec), at(t, "2026-01-15 10:07:21"), []string{}
			for range c.want {
				s, some := times.Next(after)
				if !some {
					got = append(got, "none")
					break
				}
				got, after = append(got, s.At.Format("2006-01-02 15:04:05")), s.At
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("%+v: %s", c.spec, d)
			}
		})
	}
}

// TestPreview says in words what daylight saving does.
func TestPreview(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		gap    calendar.Gap
		repeat calendar.Repeat
		after  string
		want   []string
	}{
		{"", "", "2026-03-28 12:00:00", []string{"03-29 01:30 02:30 on 29 March 2026 does not exist, it runs at 03:30", "03-30 00:30 "}},
		{calendar.GapBefore, "", "2026-03-28 12:00:00", []string{"03-29 00:30 02:30 on 29 March 2026 does not exist, it runs at 01:30", "03-30 00:30 "}},
		{calendar.GapSkip, "", "2026-03-28 12:00:00", []string{"03-29 01:30 02:30 on 29 March 2026 does not exist, it does not run", "03-30 00:30 ", "03-31 00:30 "}},
		{"", "", "2026-10-24 12:00:00", []string{"10-25 00:30 02:30 on 25 October 2026 exists twice, it runs the first time",
			"10-25 01:30 02:30 on 25 October 2026 exists twice, it does not run the second time", "10-26 01:30 "}},
		{"", calendar.RepeatSecond, "2026-10-24 12:00:00", []string{"10-25 00:30 02:30 on 25 October 2026 exists twice, it does not run the first time",
			"10-25 01:30 02:30 on 25 October 2026 exists twice, it runs the second time", "10-26 01:30 "}},
		{"", calendar.RepeatBoth, "2026-10-24 12:00:00", []string{"10-25 00:30 02:30 on 25 October 2026 exists twice, it runs the first time",
			"10-25 01:30 02:30 on 25 October 2026 exists twice, it runs the second time"}},
	} {
		times := mustCompile(t, calendar.Spec{Cron: []string{"30 2 * * *"}, Zone: "Europe/Berlin", Gap: c.gap, Repeat: c.repeat})
		var got []string
		for _, s := range times.Preview(at(t, c.after), 2) {
			got = append(got, s.At.Format("01-02 15:04 ")+s.Note)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("gap %q, repeat %q: %s", c.gap, c.repeat, d)
		}
	}
	day := mustCompile(t, calendar.Spec{Cron: []string{"0 9 30 12 *"}, Zone: "Pacific/Apia"}).Preview(at(t, "2011-12-01 00:00:00"), 1)
	if want := "09:00 on 30 December 2011 does not exist, it runs at 09:00 on 31 December 2011"; day[0].Note != want {
		t.Errorf("the lost day of Samoa: %q, want %q", day[0].Note, want)
	}
	says := (&calendar.Spec{Gap: calendar.GapSkip, Repeat: calendar.RepeatBoth}).Policy()
	if want := "a time that does not exist does not run; one that exists twice runs both times"; says != want {
		t.Errorf("the policy is %q, want %q", says, want)
	}
}

// TestEveryFiveMinutes: what names no hour does not rest in autumn, and has nothing to make up for
// in spring.
func TestEveryFiveMinutes(t *testing.T) {
	t.Parallel()
	times := mustCompile(t, calendar.Spec{Cron: []string{"*/5 * * * *"}, Zone: "Europe/Berlin"})
	for _, day := range []string{"2026-03-29 00:00:00", "2026-10-25 00:00:00"} {
		after, end := at(t, day).Add(-time.Second), at(t, day).Add(4*time.Hour)
		for want := at(t, day); want.Before(end); want = want.Add(5 * time.Minute) {
			s, some := times.Next(after)
			if !some || !s.At.Equal(want) || s.Note != "" {
				t.Fatalf("behind %s comes %v, want %s", after, s, want)
			}
			after = s.At
		}
	}
}

// TestRefused: every problem of a spec is named at once.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec calendar.Spec
		want []string
	}{
		{calendar.Spec{}, []string{"it says no time"}},
		{calendar.Spec{Cron: []string{"61 25 * * *", "0 9 * * xyz"}, Zone: "Europe/Berln", Gap: "later"}, []string{
			`cron 1: "61 25 * * *": minute "61": it must be a number from 0 to 59, hour "25"`,
			`cron 2: "0 9 * * xyz": weekday "xyz": it must be a number from 0 to 7, or a name from sun to sat`,
			`zone: there is no zone "Europe/Berln"; did you mean Europe/Berlin`, `gap: "later" must be after, before or skip`}},
		{calendar.Spec{Cron: []string{"0 9 * *"}}, []string{`it has 4 fields: it needs 5`}},
		{calendar.Spec{Cron: []string{"CRON_TZ=UTC 0 9 * * *"}}, []string{`in the field zone`}},
		{calendar.Spec{Cron: []string{"0 0 30 2 *"}}, []string{`no date fits it`}},
		{calendar.Spec{Cron: []string{"*/90 * * * *"}}, []string{`minute "*/90": the step must be a number from 1 to 60`}},
		{calendar.Spec{Cron: []string{"0 22-3 * * *"}}, []string{`hour "22-3": the range goes backwards`}},
		{calendar.Spec{Cron: []string{"0 9 * * fri#6"}}, []string{`from 1 to 5`}},
		{calendar.Spec{Cron: []string{"0 9 L-31 * *"}}, []string{`from 1 to 30`}},
		{calendar.Spec{Cron: []string{"0 9 , * *"}}, []string{`day ""`}},
		{calendar.Spec{Cron: []string{"@every 5"}}, []string{`"5" is no duration`}},
		{calendar.Spec{Every: []calendar.Interval{{Every: calendar.Duration(time.Millisecond)}}}, []string{"must be whole seconds, from 1s"}},
		{calendar.Spec{Every: []calendar.Interval{{Every: calendar.Duration(time.Minute), Offset: calendar.Duration(time.Minute)}}}, []string{"less than the interval, 1m0s"}},
		{calendar.Spec{Cron: []string{"@daily"}, Except: []calendar.Fields{{}}}, []string{"it excludes everything"}},
		{calendar.Spec{Cron: []string{"@daily"}, Repeat: "thrice", Jitter: -1}, []string{`repeat: "thrice"`, "jitter: -1ns"}},
		{calendar.Spec{Cron: []string{"@daily"}, From: time.Unix(9, 0), Until: time.Unix(9, 0)}, []string{"is not after from"}},
		{calendar.Spec{Cron: slices.Repeat([]string{"@daily"}, 101)}, []string{"at most 100"}},
		{calendar.Spec{Cron: []string{"@daily"}, Zone: "Local"}, []string{"differs from machine to machine"}},
		{calendar.Spec{Cron: []string{"@daily"}, Zone: "berlin"}, []string{"did you mean Europe/Berlin"}},
		{calendar.Spec{Cron: []string{"@daily"}, Zone: "America/New York"}, []string{"did you mean America/New_York"}},
		{calendar.Spec{Cron: []string{"@daily"}, Zone: "Middle/Of_Nowhere"}, []string{"name of the IANA database"}},
	} {
		_, err := calendar.Compile(c.spec)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: the error is %v, want %q", c.spec, err, want)
			}
		}
	}
}

// TestJitter: it is the same each time, ahead of the next slot, and differs from name to name.
func TestJitter(t *testing.T) {
	t.Parallel()
	times := mustCompile(t, calendar.Spec{Cron: []string{"* * * * *"}, Jitter: calendar.Duration(time.Hour)})
	slot, seconds := at(t, "2026-01-15 10:00:00"), map[int]bool{}
	for i := range 600 {
		name := fmt.Sprint("s", i)
		due := times.Due(name, slot)
		if d := due.Sub(slot); d < 0 || d >= time.Minute {
			t.Fatalf("due %s behind its slot", d)
		}
		if again := mustCompile(t, calendar.Spec{Cron: []string{"* * * * *"}, Jitter: calendar.Duration(time.Hour)}).Due(name, slot); !again.Equal(due) {
			t.Fatalf("due at %s and at %s", due, again)
		}
		seconds[due.Second()] = true
	}
	if len(seconds) < 55 {
		t.Errorf("600 names are due in %d different seconds of a minute", len(seconds))
	}
	moved := map[int]bool{}
	for i := range 600 {
		s := slot.Add(time.Duration(i) * time.Minute)
		moved[int(times.Due("one", s).Sub(s).Seconds())] = true
	}
	if len(moved) < 55 {
		t.Errorf("600 slots are late by %d different numbers of seconds", len(moved))
	}
}

// TestZones: every name that is suggested can be loaded, and the list is that of this Go.
func TestZones(t *testing.T) {
	t.Parallel()
	for _, zone := range calendar.Zones() {
		if _, err := calendar.LoadZone(zone); err != nil {
			t.Error(err)
		}
	}
	if !*update {
		return
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var names []string
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, "/") && f.Name != "Factory" {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	if err := os.WriteFile("zones.txt", []byte(strings.Join(names, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkNext is what a slot costs.
func BenchmarkNext(b *testing.B) {
	for name, s := range map[string]calendar.Spec{
		"minute": {Cron: []string{"* * * * *"}, Zone: "Europe/Berlin"},
		"leap":   {Cron: []string{"0 0 29 2 *"}, Zone: "Europe/Berlin"},
	} {
		b.Run(name, func(b *testing.B) {
			times := mustCompile(b, s)
			for b.Loop() {
				times.Next(at(b, "2026-01-15 10:07:21"))
			}
		})
	}
}

// TestEndOfLeapYear: package time ends such a year a day early.
func TestEndOfLeapYear(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"Europe/Berlin", "Australia/Sydney", "America/New_York"} {
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		times := mustCompile(t, calendar.Spec{Cron: []string{"0 12 * * *"}, Zone: zone})
		after := time.Date(2040, 12, 29, 12, 0, 0, 0, loc)
		for day := 30; day < 35; day++ {
			s, some := times.Next(after)
			if want := time.Date(2040, 12, day, 12, 0, 0, 0, loc); !some || !s.At.Equal(want) {
				t.Fatalf("%s: behind %s comes %v, want %s", zone, after, s, want)
			}
			after = s.At
		}
	}
}
