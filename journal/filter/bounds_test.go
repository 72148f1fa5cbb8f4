package filter_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/filter"
)

// TestBoundsOfOpenRuns: what only open runs have is looked for among these. Where a run may have
// none of it, or where the filter names statuses itself, it bounds nothing.
func TestBoundsOfOpenRuns(t *testing.T) {
	t.Parallel()
	open := []filter.Value{{Kind: filter.KindStatus, Text: journal.Open.String()}}
	for text, want := range map[string][]filter.Value{
		`waiting = "timer"`: open, `waiting starts with "sig"`: open, `waiting is set`: open, `waiting != "timer"`: open,
		`node = 7`: open, `node is set and version > 1`: open, `node > 3`: open,
		`not waiting = "timer"`: nil, `waiting is not set`: nil, `node is not set`: nil, `node = 7 or version = 1`: nil, `version = 1`: nil,
		`status = blocked and node = 7`: {{Kind: filter.KindStatus, Text: "blocked"}},
		`node = 7 and status = blocked`: {{Kind: filter.KindStatus, Text: "blocked"}},
	} {
		q, err := filter.NewQuery(text, "", func() (time.Time, error) { return time.Time{}, nil })
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if d := cmp.Diff(want, filter.BoundsOf(q.Where).Statuses); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
}
