package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestLimit: a newcomer's first run, and a second one on the same file.
func TestLimit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made on the way")
	for range 2 {
		var out bytes.Buffer
		if err := run(t.Context(), dir, &out); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"12 answers in ", "acme: 8 calls in ", "tin: 4 calls in "} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("it prints %q, want %q", out.String(), want)
			}
		}
		if strings.Contains(out.String(), "at most 4 at once") {
			t.Errorf("the API was called too often: %s", out.String())
		}
	}
}

// In virtual time it shows that the rate is kept: acme's eight calls are two at once and six in a
// fifth of a second each, so they take at least 1.2 s.
func TestRateOfATenant(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		a := &api{calls: map[string][]time.Time{}}
		runtimetest.Handle(e, Ask, a.ask, nil)
		for _, l := range limits {
			if err := runtime.SetLimit(context.Background(), e.Client(), l); err != nil {
				e.Fatal(err)
			}
		}
		var out bytes.Buffer
		if err := askAll(context.Background(), e.Client(), &out); err != nil {
			e.Fatal(err)
		}
		page, err := runtime.Limits(context.Background(), e.Client(), &journal.LimitFilter{Claims: 10})
		if err != nil || len(page.Claims) != 0 {
			e.Errorf("claims are left: %+v, %v", page.Claims, err)
		}
		calls := a.calls["acme"]
		if took := calls[len(calls)-1].Sub(calls[0]); len(calls) != 8 || took < 1150*time.Millisecond || a.most > 3 {
			e.Errorf("%d calls of acme took %s, with %d at once", len(calls), took, a.most)
		}
	})
}
