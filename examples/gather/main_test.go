package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/gather"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestGather: the program ends when the last inputs have reached their runs, however often it is
// started.
func TestGather(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made on the way")
	for range 2 {
		var out bytes.Buffer
		if err := run(t.Context(), dir, &out); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"the last mail]\n", "index the text\n", "shop, stock 0\n", "shop, stock 42\n"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("it prints %q, want %q", out.String(), want)
			}
		}
		if n := strings.Count(out.String(), "mail "); n != 5 {
			t.Errorf("there are %d of five mails in %q", n, out.String())
		}
	}
}

// Collectors are tested on the real engine in virtual time: hours take a moment.
func TestFlowGather(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		var out bytes.Buffer
		e.Register(func(n *runtime.Node) { handle(n, &out) })
		for _, text := range []string{"one", "two", "three"} {
			if err := gather.Put(context.Background(), e.Client(), Index, "doc 7", text, nil); err != nil {
				e.Fatal(err)
			}
			e.Sleep(200 * time.Millisecond)
		}
		e.Sleep(time.Hour)
		if got := out.String(); got != "index three\n" {
			e.Errorf("the index has %q", got)
		}
	})
}
