package runtime_test

import (
	"errors"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime"
)

// TestCount: a client counts what a filter selects, up to a number, and in groups.
func TestCount(t *testing.T) {
	t.Parallel()
	j := journal.New(memory.New(nil), nil)
	client := runtime.NewClient(j, nil)
	for _, label := range []string{"de", "de", "fr"} {
		if _, err := runtime.Start(t.Context(), client, printer, 0, &runtime.StartOptions{Labels: map[string]string{"region": label}}); err != nil {
			t.Fatal(err)
		}
	}
	for most, want := range map[int]struct {
		runs   int
		capped bool
	}{1: {1, true}, 2: {2, true}, 10: {2, false}} {
		runs, capped, err := client.Count(t.Context(), journal.ListFilter{Where: `region = "de"`}, most)
		if err != nil || runs != want.runs || capped != want.capped {
			t.Errorf("up to %d: %d %v %v", most, runs, capped, err)
		}
	}
	if _, _, err := client.Count(t.Context(), journal.ListFilter{Where: "region ="}, 1); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("counted by what is no filter: %v", err)
	}
	out, err := client.Aggregate(t.Context(), journal.Aggregate{By: []journal.Grouping{{Field: "region"}, {Field: "status"}}})
	if err != nil || len(out.Groups) != 2 || out.Groups[0].Runs != 2 || out.Groups[0].Values[0] != "de" || out.Groups[0].Values[1] != "open" {
		t.Errorf("got %+v, %v", out, err)
	}
}
