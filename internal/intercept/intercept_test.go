package intercept

import (
	"errors"
	"testing"
)

var (
	errWrong = errors.New("wrong")
	errBoom  = errors.New("boom")
)

type nextFunc = func(int) error

// chain makes layers that each add their number to what they pass on.
func chain(calls ...func(int, nextFunc) error) *Chain[int] {
	c := &Chain[int]{What: "test interceptor", Own: "goroutine", Wrong: errWrong}
	for i, call := range calls {
		c.Layers = append(c.Layers, Layer[int]{Name: string(rune('a' + i)), Call: call})
	}
	return c
}

func passes(v int, next nextFunc) error { return next(v + 1) }

func TestChain(t *testing.T) {
	for n := range 4 {
		c := chain()
		for range n {
			c.Layers = append(c.Layers, Layer[int]{Call: passes})
		}
		got := 0
		if err := c.Do(0, func(v int) error { got = v; return errBoom }); err != errBoom || got != n {
			t.Errorf("%d layers: got %d, %v", n, got, err)
		}
	}
	var none Chain[int]
	if err := none.Do(1, func(v int) error { return nil }); err != nil {
		t.Error(err)
	}
}

// TestMistakes: Do returns nil only if what is intercepted was called once and returned nil, and
// its error names the layer and wraps what next had returned.
func TestMistakes(t *testing.T) {
	var kept nextFunc
	for name, c := range map[string]struct {
		call   func(int, nextFunc) error
		inner  error
		calls  int
		want   string
		causes []error
	}{
		"nothing":           {func(int, nextFunc) error { return nil }, nil, 0, "test interceptor b: wrong: it returned nil without calling next, so there is no outcome; call next, or return an error to refuse", nil},
		"swallowed":         {func(v int, next nextFunc) error { _ = next(v); return nil }, errBoom, 1, "test interceptor b: wrong: it returned nil although next had failed; return that error or another one: boom", []error{errBoom}},
		"twice":             {func(v int, next nextFunc) error { _ = next(v); return next(v) }, nil, 1, "test interceptor b: wrong: it called next a second time; nothing was done", nil},
		"twice after error": {func(v int, next nextFunc) error { _ = next(v); return next(v) }, errBoom, 1, "test interceptor b: wrong: it called next a second time; nothing was done: boom", []error{errBoom}},
		"twice, unheard":    {func(v int, next nextFunc) error { defer next(v); return next(v) }, nil, 1, "", nil},
		"another goroutine": {func(v int, next nextFunc) error {
			failed := make(chan error)
			go func() { failed <- next(v) }()
			return <-failed
		}, nil, 0, "test interceptor b: wrong: it called next on another goroutine; call it on the interceptor's own", nil},
		"a panic":  {func(v int, next nextFunc) error { defer func() { _ = recover() }(); return next(v) }, nil, 1, "test interceptor b: wrong: it recovered from a panic and returned nil; return an error", nil},
		"too late": {func(v int, _ nextFunc) error { return kept(v) }, nil, 0, "test interceptor b: wrong: it called next after it had returned", nil},
		"in next":  {nil, nil, 1, "test interceptor b: wrong: it called next a second time; nothing was done", nil},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			do := func(int) error {
				if calls++; name == "a panic" {
					panic("x")
				}
				if name == "in next" {
					return kept(0)
				}
				return c.inner
			}
			switch name {
			case "too late": // its layer has ended, by a panic
				func() {
					defer func() { _ = recover() }()
					_ = chain(passes, func(_ int, next nextFunc) error { kept = next; panic("x") }).Do(0, do)
				}()
			case "in next":
				c.call = func(v int, next nextFunc) error { kept = next; return next(v) }
			}
			err := chain(passes, c.call).Do(0, do)
			if c.want == "" {
				if err != nil || calls != c.calls {
					t.Errorf("got %v after %d calls", err, calls)
				}
				return
			}
			if err == nil || err.Error() != c.want || !errors.Is(err, errWrong) || calls != c.calls {
				t.Errorf("got %v after %d calls", err, calls)
			}
			for _, cause := range c.causes {
				if !errors.Is(err, cause) {
					t.Errorf("%v does not wrap %v", err, cause)
				}
			}
		})
	}
}
