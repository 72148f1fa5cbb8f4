// Package calendar says when something is to happen: cron lines, intervals and calendar lists in a
// time zone, with exclusions. It knows no store and no clock; it computes.
//
//	times, err := calendar.Compile(calendar.Spec{Cron: []string{"30 2 * * mon-fri"}, Zone: "Europe/Berlin"})
//	slot, ok := times.Next(time.Now())
//
// # Slots
//
// A slot is a moment at which the spec says that something happens, in whole seconds. A spec unites
// all of its lines: a moment that several of them give is one slot.
//
// # Daylight saving
//
// A line that names hours names times of the wall clock. When the clock is set, some of these do
// not exist and others exist twice. What happens then is a part of the spec, see [Gap] and
// [Repeat]:
//
//   - A time that does not exist runs after the gap, by default: as much later as the clock was
//     set. 02:30 runs at 03:30, and so a full day after the 02:30 of the day before. With
//     [GapBefore] it runs as much earlier, and with [GapSkip] not at all.
//   - A time that exists twice runs the first time, by default, or the second time, or both.
//
// A line that fits every hour ("*/5 * * * *") names none: it runs whenever the clock shows what it
// says, and no policy applies. Otherwise what runs every five minutes would rest for an hour in
// autumn. An interval ("every 5m") counts in seconds and does not depend on the zone at all.
//
// # Zones
//
// Zones are those of the IANA database, as the machine has it. A program for machines without one
// imports time/tzdata, which embeds it. An unknown zone is refused, with the names that it may have
// meant.
package calendar
