package runtime_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime"
)

func TestLimitsAreSetAndRemoved(t *testing.T) {
	t.Parallel()
	var seen []string
	client := runtime.NewClient(journal.New(memory.New(nil), nil), &runtime.ClientOptions{Actor: "eva", Interceptors: []runtime.Interceptor{{
		Client: func(ctx context.Context, c *runtime.Call, next func(context.Context) error) error {
			seen = append(seen, c.String())
			return next(ctx)
		},
	}}})
	ctx := runtime.WithReason(t.Context(), "the bank asked")
	set := func(l journal.Limit) {
		t.Helper()
		if err := runtime.SetLimit(ctx, client, l); err != nil {
			t.Fatal(err)
		}
	}
	set(journal.Limit{Name: "bank", Concurrency: 5})
	set(journal.Limit{Name: "bank", Key: "t1", Rate: journal.Rate{N: 100, Per: time.Minute}})
	page, err := runtime.Limits(ctx, client, nil)
	if err != nil || len(page.Limits) != 2 || page.Limits[0].Actor != "eva" || page.Limits[1].Reason != "the bank asked" {
		t.Fatalf("limits: %+v, %v", page, err)
	}
	if err := runtime.RemoveLimit(ctx, client, "bank", "t1"); err != nil {
		t.Fatal(err)
	}
	for want, err := range map[string]error{
		`remove-limit limit "bank": there is no such limit`:                                        runtime.RemoveLimit(ctx, client, "bank", "t1"),
		`release-claim claim 7 of node 3: there is no such claim: its step has ended, or its node`: runtime.ReleaseClaim(ctx, client, 3, 7),
		`set-limit limit "bank": limit "bank": Concurrency is -1: invalid`:                         runtime.SetLimit(ctx, client, journal.Limit{Name: "bank", Concurrency: -1}),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := runtime.RemoveLimit(ctx, client, "none", ""); !errors.Is(err, journal.ErrNoLimit) {
		t.Error(err)
	}
	if want := `set-limit of limit "bank", key "t1": 100 per 1m0s`; len(seen) < 2 || seen[1] != want {
		t.Errorf("interceptors see %q, want %q", seen, want)
	}
}
