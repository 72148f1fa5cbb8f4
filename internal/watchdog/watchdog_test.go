package watchdog

import (
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/internal/goroutine"
)

// Late work is reported once, in the order of begins; what ends in time is not.
func TestReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // each report comes from a goroutine of its own
		var late []string
		d := Watchdog[string]{After: time.Second, Report: func(subject string, after time.Duration, _ string) {
			if after != time.Second {
				t.Errorf("%s was reported with limit %s", subject, after)
			}
			mu.Lock()
			defer mu.Unlock()
			late = append(late, subject)
		}}
		var a, b, c Watch[string]
		d.Begin(&a, "a")
		time.Sleep(500 * time.Millisecond)
		d.Begin(&b, "b")
		d.Begin(&c, "c")
		d.End(&a) // the timer was set for it
		time.Sleep(700 * time.Millisecond)
		if synctest.Wait(); len(late) != 0 {
			t.Errorf("%v were reported too early", late)
		}
		d.Begin(&a, "a again")
		time.Sleep(400 * time.Millisecond)
		d.End(&b)
		time.Sleep(time.Minute)
		if synctest.Wait(); !slices.Equal(late, []string{"b", "c", "a again"}) {
			t.Errorf("reported %v", late)
		}
		d.End(&c)
		d.End(&a)
		if !d.begun.Empty() || d.armed {
			t.Error("the watchdog is not at rest")
		}
	})
}

// Late work is listed from its report to its end.
func TestLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := Watchdog[string]{After: time.Second, Report: func(string, time.Duration, string) {}}
		var a, b Watch[string]
		d.Begin(&a, "a")
		d.Begin(&b, "b")
		if late := d.Late(); len(late) != 0 {
			t.Errorf("late at once: %v", late)
		}
		time.Sleep(2 * time.Second)
		if late := d.Late(); !slices.Equal(late, []string{"a", "b"}) {
			t.Errorf("late: %v", late)
		}
		d.End(&a)
		if late := d.Late(); !slices.Equal(late, []string{"b"}) {
			t.Errorf("late: %v", late)
		}
		d.Begin(&a, "a again")
		d.End(&b)
		d.End(&a)
		if late := d.Late(); len(late) != 0 {
			t.Errorf("late after the end: %v", late)
		}
	})
}

// With a limit of next to nothing, work that ends at the moment at which it begins moves no clock.
func TestEagerTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := 0 // each report comes on the timer's goroutine, while this one sleeps
		d := Watchdog[int]{After: time.Nanosecond, Report: func(int, time.Duration, string) { late++ }}
		var w, v Watch[int]
		for i := range 1000 {
			d.Begin(&w, i)
			d.Begin(&v, i)
			d.End(&v)
			d.End(&w)
		}
		if d.armed {
			t.Error("a timer is set although nothing is watched")
		}
		time.Sleep(time.Hour)
		if late != 0 {
			t.Errorf("%d were late", late)
		}
		d.Begin(&w, 7)
		time.Sleep(time.Microsecond)
		synctest.Wait() // the timer's goroutine has reported
		d.End(&w)
		if late != 1 {
			t.Errorf("%d were late", late)
		}
	})
}

// Only goroutines that execute the frame are kept: neither others nor coroutines that rest.
func TestFilter(t *testing.T) {
	dump := strings.Join([]string{
		"goroutine 1 [running]:\nmain.main()",
		"goroutine 2 [coroutine]:\nm/coro.rest()",
		"goroutine 3 [sleep]:\nm/coro.work()",
	}, "\n\n")
	if got := filter(dump, "m/coro"); got != "goroutine 3 [sleep]:\nm/coro.work()\n\n" {
		t.Errorf("kept %q", got)
	}
	long := "goroutine 3 [sleep]:\nm/coro.work()" + strings.Repeat("x", stacksBytesMax/2)
	if n := len(filter(strings.Join([]string{long, long, long}, "\n\n"), "m/coro")); n > stacksBytesMax+2 {
		t.Errorf("a report has %d bytes", n)
	}
}

// The stack of a goroutine is found by its number, and no other one.
func TestStackOf(t *testing.T) {
	begun, end := make(chan int64), make(chan bool)
	go func() { begun <- goroutine.ID(); standsHere(end) }()
	id := <-begun
	for !strings.Contains(StackOf(id), "standsHere") { // until it has come there
		goruntime.Gosched()
	}
	if got := StackOf(goroutine.ID()); !strings.Contains(got, "TestStackOf") || strings.Contains(got, "standsHere") {
		t.Errorf("the own stack is %s", got)
	}
	close(end)
	if got := StackOf(1 << 60); got != "" {
		t.Errorf("a goroutine that never was has the stack %s", got)
	}
}

func standsHere(end chan bool) { <-end }
