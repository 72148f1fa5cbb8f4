package coro

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestResume(t *testing.T) {
	var c *Coro
	var said []string
	c = New(func() {
		said = append(said, "a")
		c.Park()
		said = append(said, "b")
	})
	if done, crash := c.Resume(); done || crash != nil {
		t.Fatalf("first slice: done %v, crash %v", done, crash)
	}
	if done, crash := c.Resume(); !done || crash != nil {
		t.Fatalf("second slice: done %v, crash %v", done, crash)
	}
	if got := strings.Join(said, ""); got != "ab" {
		t.Errorf("said %q", got)
	}
	c.Unwind(false) // nothing is left to unwind
}

func TestCrash(t *testing.T) {
	boom := errors.New("boom")
	tests := []struct {
		name string
		fn   func()
		want any
	}{
		{"panic", func() { panic(boom) }, boom},
		{"goexit", runtime.Goexit, nil},
		{"panic in goexit", func() { defer func() { panic(boom) }(); runtime.Goexit() }, boom},
		{"goexit in panic", func() { defer runtime.Goexit(); panic(boom) }, nil},
		{"recovered panic in goexit", func() {
			defer func() {
				defer func() { _ = recover() }()
				panic("other")
			}()
			runtime.Goexit()
		}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := New(test.fn)
			done, crash := c.Resume()
			if !done || crash == nil {
				t.Fatalf("done %v, crash %v", done, crash)
			}
			if crash.Value != test.want {
				t.Errorf("value is %v, want %v", crash.Value, test.want)
			}
			if !strings.Contains(string(crash.Stack), "coro_test.go") && test.name != "goexit" {
				t.Errorf("the stack does not show the function:\n%s", crash.Stack)
			}
			c.Unwind(false)
		})
	}
}

func TestUnwind(t *testing.T) {
	var c *Coro
	var said []string
	c = New(func() {
		defer func() { said = append(said, "outer") }()
		defer func() {
			defer func() { said = append(said, "inner") }()
			c.Park()
			said = append(said, "never")
		}()
		c.Park()
		said = append(said, "never")
	})
	c.Resume()
	where := c.Unwind(true)
	if got := strings.Join(said, " "); got != "inner outer" {
		t.Errorf("said %q", got)
	}
	frame, _ := runtime.CallersFrames(where).Next()
	if !strings.HasSuffix(frame.File, "coro_test.go") {
		t.Errorf("the trace begins at %s", frame.File)
	}
}

func TestUnwindGoexit(t *testing.T) {
	var c *Coro
	c = New(func() {
		defer runtime.Goexit()
		c.Park()
	})
	c.Resume()
	c.Unwind(false) // must return: this goroutine is not to end
}

func TestUnwindBeforeStart(t *testing.T) {
	c := New(func() { t.Error("ran") })
	c.Unwind(false)
}

func TestUnwindSwallowed(t *testing.T) {
	var c *Coro
	times := 0
	c = New(func() {
		for {
			times++
			func() {
				defer func() { _ = recover() }()
				c.Park()
			}()
		}
	})
	c.Resume()
	c.Unwind(false)
	if times > swallowedMax+2 {
		t.Errorf("parked %d times", times)
	}
}

func BenchmarkSwitch(b *testing.B) {
	var c *Coro
	c = New(func() {
		for {
			c.Park()
		}
	})
	for b.Loop() {
		c.Resume()
	}
	c.Unwind(false)
}
