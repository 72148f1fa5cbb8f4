package calendar_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/reprise-run/reprise/runtime/schedule/calendar"
)

// The last Friday of a month, and two nights around the beginning of summer time.
func ExampleTimes_Preview() {
	for _, spec := range []calendar.Spec{
		{On: []calendar.Fields{{Weekday: "friL", Hour: "17"}}, Zone: "Europe/Berlin"},
		{Cron: calendar.Lines{"30 2 * * *"}, Zone: "Europe/Berlin"},
	} {
		times, err := calendar.Compile(spec)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, s := range times.Preview(time.Date(2026, 3, 27, 18, 0, 0, 0, time.UTC), 2) {
			fmt.Println(strings.TrimSpace(s.At.In(times.Zone()).Format("2006-01-02 15:04 MST ") + s.Note))
		}
	}
	// Output:
	// 2026-04-24 17:00 CEST
	// 2026-05-29 17:00 CEST
	// 2026-03-28 02:30 CET
	// 2026-03-29 03:30 CEST 02:30 on 29 March 2026 does not exist, it runs at 03:30
}

// Everything that is wrong is said at once.
func ExampleCompile() {
	_, err := calendar.Compile(calendar.Spec{Cron: calendar.Lines{"61 2 * * *"}, Zone: "Europe/Berln"})
	fmt.Println(err)
	// Output:
	// cron: "61 2 * * *": minute "61": it must be a number from 0 to 59; zone: there is no zone "Europe/Berln"; did you mean Europe/Berlin?
}
