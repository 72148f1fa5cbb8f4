package held

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// What is held for a while is reported once, until it is not held any more.
func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		l := Log[string]{Log: slog.New(slog.NewTextHandler(&text, nil)), What: "it is held", Key: "id"}
		want := func(what string, lines int) {
			t.Helper()
			if n := strings.Count(text.String(), "it is held"); n != lines {
				t.Errorf("%s: %d lines, want %d: %s", what, n, lines, &text)
			}
		}
		l.Note("a", false)
		l.Note("a", true)
		l.Note("b", true)
		time.Sleep(reportAfter / 2)
		l.Note("b", false)
		want("for a moment", 0)
		for range 10 {
			time.Sleep(reportAfter)
			l.Note("a", true)
		}
		want("for long", 1)
		if !strings.Contains(text.String(), "id=a") || !l.Held("a") || l.Held("b") {
			t.Errorf("held a %v, b %v: %s", l.Held("a"), l.Held("b"), &text)
		}
		l.Note("a", false)
		l.Note("a", true)
		want("again, for a moment", 1)
		time.Sleep(reportAfter)
		l.Note("a", true)
		if want("again, for long", 2); !l.Held("a") {
			t.Error("a is not held")
		}
	})
}

// A call that takes long is reported while it does, once, unless the store is away.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		away := false
		s := Slow{Log: slog.New(slog.NewTextHandler(&text, nil)), What: "it takes long", Away: func() bool { return away }}
		call := func(d time.Duration) {
			stop := s.Watch(func() []any { return []any{"run", 7} })
			time.Sleep(d)
			synctest.Wait()
			stop()
		}
		call(slowAfter - 1)
		if text.Len() > 0 {
			t.Errorf("a quick call: %s", &text)
		}
		call(10 * slowAfter)
		if n := strings.Count(text.String(), "it takes long"); n != 1 || !strings.Contains(text.String(), "run=7") {
			t.Errorf("a slow call: %s", &text)
		}
		away = true
		call(10 * slowAfter)
		if n := strings.Count(text.String(), "it takes long"); n != 1 {
			t.Errorf("a call of a store that is away: %s", &text)
		}
	})
}
