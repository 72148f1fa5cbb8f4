package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/schedule"
	"github.com/reprise-run/reprise/runtime/schedule/calendar"
)

// away applies a schedule of every ten minutes and takes the node away from 15m to 2h5m.
func away(r *rig, s schedule.Schedule) schedule.Counts {
	s.Spec = every("", 10*time.Minute, job{}).Spec
	r.apply(s)
	r.until(15 * time.Minute)
	r.leave()
	r.until(125 * time.Minute)
	r.serve(nil)
	r.until(135 * time.Minute)
	return r.info(s.Name).Counts
}

// TestMissed: what could not start in time starts late, within the window and the limit.
func TestMissed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		late   schedule.CatchUp
		want   string
		missed int
	}{
		{"an hour by default", schedule.CatchUp{}, "10m 1h10m 1h20m 1h30m 1h40m 1h50m 2h 2h10m", 5},
		{"a window", schedule.CatchUp{Window: calendar.Duration(25 * time.Minute)}, "10m 1h40m 1h50m 2h 2h10m", 8},
		{"the latest only", schedule.CatchUp{Limit: 1}, "10m 2h 2h10m", 10},
		{"nothing", schedule.CatchUp{Window: calendar.Duration(time.Second)}, "10m 2h10m", 11},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(r *rig) {
				s := every("s", 0, job{})
				s.CatchUp, s.Overlap = c.late, schedule.Allow
				counts := away(r, s)
				r.wantSlots("s", c.want)
				if counts.Missed != c.missed {
					t.Errorf("%d slots are missed, want %d", counts.Missed, c.missed)
				}
			})
		})
	}
}

// TestMissedUnderSkip: the overlap policy holds for what is late, too.
func TestMissedUnderSkip(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		counts := away(r, every("s", 0, job{Takes: time.Minute}))
		r.wantSlots("s", "10m 1h10m 2h10m")
		if counts.Missed != 5 || counts.Skipped != 5 {
			t.Errorf("the counts are %+v", counts)
		}
	})
}

// TestAwayForAYear: a schedule of every second does not look at every second of a year.
func TestAwayForAYear(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		s := every("s", time.Second, job{})
		s.CatchUp.Limit, s.Overlap = 2, schedule.Allow
		r.apply(s)
		r.until(1500 * time.Millisecond)
		r.leave()
		const year = 365 * 24 * time.Hour
		r.until(year + 500*time.Millisecond)
		r.serve(nil)
		r.until(year + 700*time.Millisecond)
		r.wantSlots("s", "1s 8759h59m59s 8760h")
		if missed := r.info("s").Counts.Missed; missed < 1_000 || missed > 10_000 {
			t.Errorf("%d slots are counted as missed: a year has too many to look at", missed)
		}
	})
}

// TestManySlotsMissed: the limit of what starts late means the newest slots, and a buffer the
// oldest ones, however many slots there are, with jitter too.
func TestManySlotsMissed(t *testing.T) {
	t.Parallel()
	const month = 30 * 24 * time.Hour // 1,296,000 slots
	for _, c := range []struct {
		name   string
		back   time.Duration // of the node
		change func(s *schedule.Schedule)
		want   string
	}{
		{"limit", month + 1200*time.Millisecond, func(*schedule.Schedule) {}, "2s 719h59m56s 719h59m58s 720h 720h2s"},
		{"jitter", month + time.Millisecond, func(s *schedule.Schedule) { s.Jitter = calendar.Duration(time.Second) },
			"2s 719h59m54s 719h59m56s 719h59m58s 720h 720h2s"}, // 720h is not due when the node is back
		{"nothing is left", month, func(s *schedule.Schedule) { s.Until = time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC) }, "2s 59m54s 59m56s 59m58s"},
		{"skip", month + 1200*time.Millisecond, func(s *schedule.Schedule) { s.Overlap = schedule.Skip }, "2s 719h59m56s 720h2s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(r *rig) {
				s := every("s", 2*time.Second, job{Takes: 500 * time.Millisecond})
				s.CatchUp, s.Overlap = schedule.CatchUp{Window: calendar.Duration(31 * 24 * time.Hour), Limit: 3}, schedule.Allow
				c.change(&s)
				r.apply(s)
				r.until(3500 * time.Millisecond)
				r.leave()
				r.until(c.back)
				r.serve(nil)
				r.until(month + 3500*time.Millisecond)
				r.wantSlots("s", c.want)
			})
		})
	}
	bubble(t, func(r *rig) {
		s := every("s", time.Second, job{Takes: month})
		s.Overlap, s.Buffer = schedule.BufferAll, 2
		r.apply(s)
		r.until(1500 * time.Millisecond)
		r.leave() // a node that is there for a month costs the bubble seconds
		r.until(month + 1500*time.Millisecond)
		r.serve(nil)
		r.until(month + 1800*time.Millisecond)
		r.wantSlots("s", "1s 2s")
		if i := r.info("s"); i.Queued != 1 || i.Counts.Skipped < 1_000 || i.Counts.Skipped > 2_000 || !i.Waiting {
			t.Errorf("it shows %+v", i.Info)
		}
	})
}

// TestPauseAfter: failures in a row pause a schedule, a success begins the count anew, and a resume
// lets it go on with slots that come.
func TestPauseAfter(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		s := every("s", time.Minute, job{Fails: true})
		s.PauseAfter = 3
		r.apply(s)
		r.until(150 * time.Second)
		good := s
		good.Start = schedule.StartOf(work, job{})
		r.apply(good) // the slot 3m does not fail
		r.until(210 * time.Second)
		r.apply(s)
		r.until(10 * time.Minute)
		r.wantSlots("s", "1m 2m 3m 4m 5m 6m")
		if t.Failed() {
			return
		}
		i := r.info("s")
		if want := "3 runs in a row have failed, the last one is " + r.slots("s")[5].run.ID.String(); len(i.Paused) < len(want) || i.Paused[:len(want)] != want {
			t.Errorf("it is paused because %q, want %q", i.Paused, want)
		}
		if i.Counts.Failed != 5 || i.Counts.Completed != 1 || !i.Next.IsZero() {
			t.Errorf("it shows %+v", i.Info)
		}
		r.apply(good)
		r.until(11*time.Minute + 30*time.Second)
		r.wantSlots("s", "1m 2m 3m 4m 5m 6m") // a change does not resume
		r.must(schedule.Resume(r.ctx, r.client, "s"))
		r.until(13*time.Minute + 30*time.Second)
		r.wantSlots("s", "1m 2m 3m 4m 5m 6m 12m 13m")
	})
}

// TestPause: while a schedule is paused slots pass, and triggers and backfills run.
func TestPause(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		r.apply(every("s", time.Minute, job{Takes: 10 * time.Second}))
		r.until(90 * time.Second)
		r.must(schedule.Pause(r.ctx, r.client, "s", "it is too loud"))
		r.until(5*time.Minute + 20*time.Second)
		if got, want := r.info("s").Paused, "by eva: it is too loud"; got != want {
			t.Errorf("it is paused because %q, want %q", got, want)
		}
		key, err := schedule.Trigger(r.ctx, r.client, "s", &schedule.TriggerOptions{Key: "now"})
		r.must(err)
		_, err = schedule.Trigger(r.ctx, r.client, "s", &schedule.TriggerOptions{Key: "now"}) // the same one
		r.must(err)
		r.must(schedule.Backfill(r.ctx, r.client, "s", r.began.Add(2*time.Minute), r.began.Add(3*time.Minute), nil))
		r.until(6 * time.Minute)
		r.wantSlots("s", "1m 2m 3m 5m20s")
		run, err := r.client.FindKey(r.ctx, key)
		r.must(err)
		if list := r.slots("s"); list[3].run.ID != run || list[3].run.Key != key {
			t.Errorf("the key of the trigger is that of run %s", run)
		}
		r.must(schedule.Resume(r.ctx, r.client, "s"))
		r.until(7*time.Minute + 30*time.Second)
		r.wantSlots("s", "1m 2m 3m 5m20s 7m")
		for _, ahead := range []string{"", "x"} { // one of them ends in the middle of a letter
			r.must(schedule.Pause(r.ctx, r.client, "s", ahead+strings.Repeat("ä", 400)))
			r.until(time.Since(r.began) + time.Second)
			if got := r.info("s").Paused; strings.Contains(got, "\ufffd") || !strings.HasSuffix(got, "ä…") {
				t.Errorf("it is paused because %q", got)
			}
		}
	})
}

// TestBackfill: one behind the other or side by side, beside the slots that come, and without
// touching what is there unless it failed.
func TestBackfill(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		s := every("s", 10*time.Minute, job{Takes: 4 * time.Minute, Fails: true})
		r.apply(s)
		r.until(25 * time.Minute) // 10m and 20m have failed
		s.Start = schedule.StartOf(work, job{Takes: 4 * time.Minute})
		r.apply(s)
		hour := r.began.Add(-time.Hour)
		r.must(schedule.Backfill(r.ctx, r.client, "s", hour, r.began.Add(10*time.Minute), nil))
		r.until(31 * time.Minute)
		r.wantSlots("s", "-1h -50m 10m 20m 30m")
		r.until(59 * time.Minute) // 8 runs of 4 minutes from 25m on
		r.wantSlots("s", "-1h -50m -40m -30m -20m -10m 0s 10m 10m 20m 30m 40m 50m")
		r.must(schedule.Backfill(r.ctx, r.client, "s", hour.Add(-100*time.Hour), r.began, &schedule.BackfillOptions{AtOnce: true}))
		r.until(59*time.Minute + 1500*time.Millisecond)
		if n := len(r.slots("s")); n != 13+200 {
			t.Errorf("there are %d runs a second later, want %d", n, 13+200)
		}
		r.until(59*time.Minute + 20*time.Second)
		if n := len(r.slots("s")); n != 13+600 {
			t.Errorf("there are %d runs, want %d", n, 13+600)
		}
		if got := r.info("s"); got.Backfill != 0 || got.Counts.Existed != 7 || got.Counts.Missed != 0 || got.Counts.Skipped != 0 {
			t.Errorf("it shows %+v", got.Info)
		}
		r.must(schedule.Backfill(r.ctx, r.client, "s", hour, r.began, nil)) // again
		r.until(69 * time.Minute)
		if n := len(r.slots("s")); n != 13+600+1 { // and the slot 1h
			t.Errorf("there are %d runs after it was repeated, want %d", n, 13+600+1)
		}
	})
}

// TestGenerations: a schedule continues as new, and knows what it knew.
func TestGenerations(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		r.leave()
		r.serve(&runtime.NodeOptions{HistoryHint: 8})
		s := every("s", time.Minute, job{Takes: 10 * time.Second})
		r.apply(s)
		r.until(20*time.Minute + 30*time.Second)
		f := r.info("s")
		if f.Counts != (schedule.Counts{Started: 20, Completed: 20}) {
			t.Errorf("the counts are %+v", f.Counts)
		}
		d, err := r.client.Describe(r.ctx, f.Run)
		r.must(err)
		if d.Run.Generation < 5 {
			t.Errorf("it is in generation %d", d.Run.Generation)
		}
	})
}

// TestDaylightSaving: a schedule in a zone runs through both transitions of a year, and shows what
// happens.
func TestDaylightSaving(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		since := func(month time.Month, day, hour, minute int) time.Duration {
			return time.Date(2000, month, day, hour, minute, 0, 0, time.UTC).Sub(r.began)
		}
		s := every("s", 0, job{})
		s.Spec = calendar.Spec{Cron: []string{"30 2 * * sun"}, Zone: "Europe/Berlin"}
		r.apply(s)
		r.until(time.Second)
		for _, c := range []struct {
			from, to time.Duration
			note     string
		}{
			{since(3, 26, 1, 20), since(3, 26, 1, 40), "02:30 on 26 March 2000 does not exist, it runs at 03:30"},
			{since(10, 29, 0, 20), since(10, 29, 1, 40), "02:30 on 29 October 2000 exists twice, it runs the first time"},
		} {
			r.leave() // a node that is there for months costs the bubble seconds
			r.until(c.from)
			r.serve(nil)
			r.until(c.from + time.Minute)
			if got := r.info("s").Note; got != c.note {
				t.Errorf("it shows %q, want %q", got, c.note)
			}
			r.until(c.to)
		}
		list := r.slots("s")
		if len(list) != 2 || list[0].at != since(3, 26, 1, 30) || list[1].at != since(10, 29, 0, 30) {
			t.Errorf("it has run for %+v", list)
		}
	})
}

// TestGenerationWithOpenRun: orders without end make a history long while a run is open. The next
// generation does not hear of its end and asks, when a slot is due.
func TestGenerationWithOpenRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		overlap schedule.Overlap
		want    string
		counts  schedule.Counts
	}{
		{schedule.Skip, "1h 4h 7h", schedule.Counts{Started: 3, Failed: 2, Skipped: 4}},
		{schedule.BufferOne, "1h 2h 4h", schedule.Counts{Started: 3, Failed: 2, Skipped: 1}},
		{schedule.CancelOther, "1h 2h 3h 4h 5h 6h 7h", schedule.Counts{Started: 7}},
		{schedule.TerminateOther, "1h 2h 3h 4h 5h 6h 7h", schedule.Counts{Started: 7}},
	} {
		t.Run(string(c.overlap), func(t *testing.T) {
			t.Parallel()
			bubble(t, func(r *rig) {
				r.leave()
				r.serve(&runtime.NodeOptions{HistoryHint: 8, Lease: time.Hour, Poll: time.Hour})
				s := every("s", time.Hour, job{Takes: 150 * time.Minute, Fails: true})
				s.Overlap = c.overlap
				r.apply(s)
				r.until(90 * time.Minute)
				for range 1_100 {
					r.must(schedule.Resume(r.ctx, r.client, "s")) // it is not paused: nothing changes
				}
				r.until(91 * time.Minute)
				f := r.info("s")
				if d, err := r.client.Describe(r.ctx, f.Run); err != nil || d.Run.Generation != 2 || f.OpenRuns != 1 {
					t.Fatalf("it is in generation %d with %d open runs, %v", d.Run.Generation, f.OpenRuns, err)
				}
				r.until(7*time.Hour + 10*time.Minute)
				r.wantSlots("s", c.want)
				if got := r.info("s").Counts; got.Started != c.counts.Started || got.Skipped != c.counts.Skipped {
					t.Errorf("the counts are %+v, want %+v", got, c.counts)
				}
			})
		})
	}
}

// TestTriggerAfterGenerations: a run of an earlier generation, of whose end the schedule does not
// hear, is in the way of a trigger only while it is open.
func TestTriggerAfterGenerations(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		r.leave()
		r.serve(&runtime.NodeOptions{HistoryHint: 8, Lease: time.Hour, Poll: time.Hour})
		r.apply(every("s", 24*time.Hour, job{Takes: 2 * time.Hour}))
		r.until(24*time.Hour + time.Minute)
		for range 1_100 {
			r.must(schedule.Resume(r.ctx, r.client, "s"))
		}
		r.until(24*time.Hour + 2*time.Minute)
		f := r.info("s")
		if d, err := r.client.Describe(r.ctx, f.Run); err != nil || d.Run.Generation != 2 || f.OpenRuns != 1 {
			t.Fatalf("it is in generation %d with %d open runs, %v", d.Run.Generation, f.OpenRuns, err)
		}
		for i, want := range []bool{false, true} {
			at := time.Duration(25+5*i) * time.Hour
			r.until(at)
			key, err := schedule.Trigger(r.ctx, r.client, "s", nil)
			r.must(err)
			r.until(at + time.Minute)
			if _, err := r.client.FindKey(r.ctx, key); (err == nil) != want {
				t.Errorf("the trigger at %s has a run: %v, want %t", at, err, want)
			}
		}
		if got := r.info("s").Counts; got.Started != 2 || got.Skipped != 1 {
			t.Errorf("the counts are %+v", got)
		}
	})
}

// TestChangeOfSpec: slots of a new spec begin when it comes, and not in the past of the old one.
func TestChangeOfSpec(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		r.apply(every("s", time.Hour, job{}))
		r.until(90*time.Minute + 30*time.Second)
		s := every("s", time.Minute, job{})
		s.Overlap = schedule.Allow
		r.apply(s)
		r.until(92*time.Minute + 30*time.Second)
		r.wantSlots("s", "1h 1h31m 1h32m")
	})
}
