package callsite

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestFunctionNames: names as the compiler writes them become what people read.
func TestFunctionNames(t *testing.T) {
	for function, want := range map[string][2]string{
		"main.main": {"main", "main.main"},
		"github.com/acme/shop/orders.(*Desk).checkout.func1.2":               {"github.com/acme/shop/orders", "orders.(*Desk).checkout.func1.2"},
		"github.com/acme/shop/orders.all[...].func1":                         {"github.com/acme/shop/orders", "orders.all.func1"},
		"github.com/acme/shop/orders.all[github.com/acme/shop.Item]":         {"github.com/acme/shop/orders", "orders.all[github.com/acme/shop.Item]"},
		"github.com/reprise-run/reprise/replay/workflow.Signal[...].Receive": {verbs, "workflow.Signal.Receive"},
		"github.com/reprise-run/reprise/replay/internal/coro.(*Coro).run":    {engine + "replay/internal/coro", "coro.(*Coro).run"},
		"type:.eq.github.com/acme/shop.Item":                                 {"type:.eq.github.com/acme/shop", "shop.Item"},
		"":                                                                   {"", ""},
	} {
		if pkg, name := split(function); pkg != want[0] || name != want[1] {
			t.Errorf("%s: package %s, name %s", function, pkg, name)
		}
	}
	for name, want := range map[string]string{
		"workflow.Sleep": "workflow.Sleep", "workflow.(*Mutex).Lock": "workflow.Mutex.Lock", "workflow.WithTimeout.func1": "workflow.WithTimeout",
		"workflow.Signal.Receive-fm": "workflow.Signal.Receive", "workflow.x.function": "workflow.x.function",
		"workflow.x.function.func2.1": "workflow.x.function",
	} {
		if got := verb(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	f := &runtime.Frame{File: "/home/somebody/shop/orders.go", Line: 7}
	if got := line("orders.all", f); got != "orders.all (orders.go:7)" {
		t.Errorf("line %s", got)
	}
	if got := line(strings.Repeat("ü", 1000), f); len(got) > functionBytesMax+30 || !utf8.ValidString(got) || !strings.HasPrefix(got, "…") {
		t.Errorf("line %s", got)
	}
}

// TestWhoseFrames: frames of the engine and of the standard library are not the user's, however the
// binary was built.
func TestWhoseFrames(t *testing.T) {
	for pkg, want := range map[string]bool{
		engine + "replay": true, engine + "replay/workflow": false, engine + "replay/internal/coro": true, engine + "actor": true,
		engine + "runtime": true, engine + "journal": true, engine + "internal/pool": true,
		engine + "runtime/internal/worker": true, engine + "runtime/runtimetest": false, engine + "examples/hello": false,
		"replay": false, "github.com/acme/runtime": false, "runtime": false,
	} {
		if got := ours(pkg); got != want {
			t.Errorf("%s: ours %v", pkg, got)
		}
	}
	folder := library
	defer func() { library = folder }()
	for _, tc := range []struct {
		folder, pkg, file string
		want              bool
	}{
		{"/usr/local/go/src/", "slices", "/usr/local/go/src/slices/sort.go", true},
		{"/usr/local/go/src/", "shop", "/home/somebody/shop/orders.go", false},
		{"", "slices", "slices/sort.go", true},
		{"", "main", "shop/main.go", false},
		{"", "github.com/acme/shop", "github.com/acme/shop/orders.go", false},
	} {
		library = tc.folder
		if got := standard(tc.pkg, &runtime.Frame{File: tc.file}); got != tc.want {
			t.Errorf("%+v", tc)
		}
	}
}

// TestUnwindersAreKnown: without their places no wait in a panic would be seen.
func TestUnwindersAreKnown(t *testing.T) {
	for _, s := range unwinders {
		if s.from == 0 || s.to <= s.from || s.to-s.from > 1<<14 {
			t.Errorf("span %+v", s)
		}
	}
	seen := false
	func() {
		defer func() { seen = Panicking(); _ = recover() }()
		panic("x")
	}()
	if !seen || Panicking() {
		t.Errorf("seen %v, afterwards %v", seen, Panicking())
	}
	func() {
		defer func() { seen = Panicking() }()
	}()
	if seen {
		t.Error("a deferred call of code that returns counts as panicking")
	}
}

// TestOfStack: a printed stack leads to the same line as its frames, whoever printed it.
func TestOfStack(t *testing.T) {
	own := string(debug.Stack())
	if got := OfStack(own).Where; !strings.HasPrefix(got, "callsite.TestOfStack (callsite_test.go:") {
		t.Errorf("the own stack leads to %q:\n%s", got, own)
	}
	const engineOnly = "goroutine 7 [chan receive]:\n" + engine + "actor.(*executor).await(0x1)\n\t/x/actor/executor.go:10 +0x2\n"
	for stack, want := range map[string]string{
		"": "", "nonsense\n\tx\n": "", "a(\n\tb:c\n": "", engineOnly: "",
		"goroutine 7 [sleep]:\ntime.Sleep(0x1)\n\t" + library + "time/sleep.go:363 +0x165\nmain.(*Desk).serve({0x0?, 0x0?}, {0x1, 0x4?})\n\t/x/main.go:192 +0x18\n" +
			"created by main.other in goroutine 1\n\t/x/other.go:3 +0x1\n": "main.(*Desk).serve (main.go:192)",
		engineOnly + "created by main.other in goroutine 1\n\t/x/other.go:3 +0x1\n":                                          "",
		"goroutine 7 [sleep]:\n" + verbs + ".Step[...](...)\n\t/x/replay/workflow/step.go:30\nmain.f(...)\n\t/x/main.go:7\n": "main.f (main.go:7)",
	} {
		if got := OfStack(stack).Where; got != want {
			t.Errorf("%q leads to %q, want %q", stack, got, want)
		}
	}
}
