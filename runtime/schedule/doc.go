// Package schedule starts runs at times of the calendar: every night, every five minutes, on the
// last Friday of a month.
//
//	nightly := schedule.Schedule{
//		Name:  "nightly-report",
//		Spec:  calendar.Spec{Cron: []string{"30 2 * * mon-fri"}, Zone: "Europe/Berlin"},
//		Start: schedule.StartOf(Report, ReportInput{Shop: 7}),
//	}
//	applied, err := schedule.Apply(ctx, client, schedule.Set{Schedules: []schedule.Schedule{nightly}}, nil)
//
// A node executes schedules after [Handle]. Package calendar has what a spec may say, and what
// happens when the clock is set.
//
// # What it is made of
//
// A schedule is a run, of a workflow as users write them. It waits for its next slot, starts the
// run of the slot as a child that outlives it, and continues as new from time to time. There is no
// second clock, no leader, and no table: a schedule that waits is a parked row like every run that
// waits, and 10,000 of them cost nothing until something is due.
//
// A set is a run, too. It takes changes in order, and starts, changes and removes schedules in one
// turn for each. So [Apply] is atomic, also in a transaction of the caller's.
//
// # Exactly once
//
// The turn that decides about a slot starts its run and moves the schedule behind the slot, in one
// commit (J2), which only the owner of the schedule's run can write (J3). So a slot has one run,
// however many nodes there are and however often they die. The key of the run is made of schedule
// and slot, [KeyOf]: a backfill, and a schedule of the same name that is made anew, find the run by
// it. A database that goes back, such as a standby that takes over and lags, forgets schedules and
// their runs together: slots that were lost start again, within the catch-up window.
//
// # Late and open
//
// What a schedule could not start in time, because no node was there, starts when one is, if it is
// no later than the catch-up window: see [CatchUp]. Slots that come while a run of the schedule is
// open are a matter of its [Overlap]; they are not late, however long the run takes.
package schedule
