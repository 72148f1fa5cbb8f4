package journaltest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A page ends before a run whose values have no room, in every order, and the next one goes on with
// it. A run that is larger than a page has one to itself. Everything of each run is there.
func listBytes(k *kit) {
	node := k.join(leaseLong).ID()
	large := func(b string, n int) journal.Payload {
		return journal.Payload{Data: []byte(`"` + strings.Repeat(b, n-2) + `"`)}
	}
	var starts []journal.Start
	for i := range 7 {
		starts = append(starts, journal.Start{ID: journal.NewRunID(), Key: fmt.Sprintf("k%d", i), Input: large(string(rune('a'+i)), journal.PayloadBytesMax*3/4),
			Headers: map[string]string{"h": "v"}})
	}
	starts[1].Input, starts[2].Input = large("s", 10), large("t", 10)
	starts[4].Input = large("w", journal.PayloadBytesMax)
	k.starts(starts...)
	for _, o := range k.take(node, len(starts)) {
		switch o.run {
		case starts[4].ID: // with its input it is larger than a page
			end := completed("")
			end.Payload = large("o", journal.PayloadBytesMax)
			o.commit(closed, started(), end)
		case starts[1].ID:
			o.commit(block("b", k.j.Now()), started())
		}
	}
	var ids []journal.RunID
	for i := range starts {
		ids = append(ids, starts[i].ID)
	}
	for what, f := range map[string]journal.ListFilter{
		"all": {}, "ids": {IDs: ids}, "keys": {KeyPrefix: "k"}, "few": {Limit: 2}, "condition": {Where: "version = 1"},
		"oldest": {Where: "version = 1 order by created asc"},
	} {
		want := slices.Clone(starts)
		if what != "oldest" {
			slices.Reverse(want)
		}
		wantPages(k, what, f, want)
	}
}

// wantPages asserts that the pages of a filter are full, and no fuller, and have all of the runs.
func wantPages(k *kit, what string, f journal.ListFilter, want []journal.Start) {
	k.t.Helper()
	var sizes []int
	for rest := want; ; {
		page, err := k.j.List(k.ctx, f)
		k.ok(err)
		var room driver.Listed
		for i := range page.Runs {
			run := &page.Runs[i]
			if len(rest) == 0 || run.ID != rest[0].ID || run.Key != rest[0].Key || string(run.Input.Data) != string(rest[0].Input.Data) || run.Headers["h"] != "v" ||
				run.Status.Closed() != (run.Terminal != nil && len(run.Terminal.Payload.Data) == journal.PayloadBytesMax) {
				k.t.Fatalf("%s: behind pages of %v runs run %d is %s, with an input of %d bytes", what, sizes, i, run.Key, len(run.Input.Data))
			}
			if !room.Fits(run) {
				k.t.Errorf("%s: behind pages of %v runs one of %d runs is larger than a page may be", what, sizes, len(page.Runs))
			}
			rest = rest[1:]
		}
		sizes = append(sizes, len(page.Runs))
		if f.Cursor = page.Next; (f.Cursor == "") != (len(rest) == 0) || len(page.Runs) == 0 {
			k.t.Fatalf("%s: behind pages of %v runs, %d are left and the cursor is %q", what, sizes, len(rest), f.Cursor)
		}
		if f.Cursor == "" {
			break
		}
	}
	// Three large runs are more than a page, and so is the fourth alone.
	full := map[string][]int{"few": {2, 1, 2, 2}, "oldest": {4, 1, 2}}[what]
	if full == nil {
		full = []int{2, 1, 4}
	}
	if !slices.Equal(sizes, full) {
		k.t.Errorf("%s: pages have %v runs, want %v", what, sizes, full)
	}
}
