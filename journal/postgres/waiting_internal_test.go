package postgres

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWaitingIsReadAsItWasWritten(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 678000, time.UTC)
	for name, c := range map[string]struct {
		lines  []string
		at     time.Time
		stored string
	}{
		"nothing":         {nil, at, ""},
		"a timer":         {[]string{"timer 2030-01-02T03:04:05.000678Z"}, at, "timer @"},
		"another time":    {[]string{"timer 2030-01-02T03:04:05Z"}, at, "timer 2030-01-02T03:04:05Z"},
		"no time":         {[]string{"signal go", "step x"}, time.Time{}, "signal go\nstep x"},
		"several":         {[]string{"signal go", "timer 2030-01-02T03:04:05.000678Z"}, at, "signal go\ntimer @"},
		"the mark itself": {[]string{"signal @", "signal @ @"}, at, "signal @ @\nsignal @ @ @"},
		"mark, no time":   {[]string{"signal @"}, time.Time{}, "signal @ @"},
	} {
		stored := joinWaiting(c.lines, c.at)
		if stored != c.stored {
			t.Errorf("%s: stored as %q, want %q", name, stored, c.stored)
		}
		if diff := cmp.Diff(c.lines, splitWaiting(stored, c.at)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got := splitWaiting("timer @", time.Time{}); !cmp.Equal(got, []string{"timer"}) {
		t.Errorf("without a time: %q", got)
	}
}
