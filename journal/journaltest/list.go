package journaltest

import (
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Listings are for people and tools: exact filters, stable pages, nothing twice.
var listChecks = []check{
	{"List_Filters", listFilters},
	{"List_KeyPrefixIsLiteral", listKeyPrefix},
	{"List_PagesAreStable", listPages},
	{"List_TimeWindow", listTimeWindow},
	{"List_RefusesABrokenCursor", listBrokenCursor},
	{"List_PagesHaveABoundOfBytes", listBytes},
}

// listAll returns all pages of a filter.
func (k *kit) listAll(f journal.ListFilter) (all []journal.Run) {
	k.t.Helper()
	for {
		page, err := k.j.List(k.ctx, f)
		k.ok(err)
		all = append(all, page.Runs...)
		if f.Cursor = page.Next; f.Cursor == "" {
			return all
		}
	}
}

// listed returns the keys that a filter selects, newest first.
func (k *kit) listed(f journal.ListFilter) (keys []string) {
	k.t.Helper()
	for _, r := range k.listAll(f) {
		keys = append(keys, r.Key)
	}
	return keys
}

// Every filter selects by its field alone, and filters that are set together must all match.
func listFilters(k *kit) {
	node := k.join(leaseLong).ID()
	var starts []journal.Start
	for i := range 6 {
		starts = append(starts, journal.Start{
			ID: journal.NewRunID(), Key: fmt.Sprintf("k%d", i), Version: int32(1 + i%2),
			Labels: map[string]string{"parity": fmt.Sprint(i % 2), "third": fmt.Sprint(i % 3)},
		})
	}
	starts[5].Workflow = "other"
	k.starts(starts...)
	owners := map[journal.RunID]*owner{}
	for _, o := range k.take(node, 3) { // k0, k2, k4: version 1 of flow
		owners[o.run] = o
	}
	owners[starts[0].ID].commit(closed, started(), completed("1"))
	owners[starts[2].ID].commit(closed, started(), ended(journal.RunFailed))
	owners[starts[4].ID].commit(block("b", k.j.Now().Add(time.Hour)), started())

	open, failed, blocked, ready := journal.Open, journal.Failed, journal.Blocked, journal.Ready
	for name, c := range map[string]struct {
		f    journal.ListFilter
		want []string
	}{
		"all":             {journal.ListFilter{}, []string{"k5", "k4", "k3", "k2", "k1", "k0"}},
		"ids":             {journal.ListFilter{IDs: []journal.RunID{starts[1].ID, starts[3].ID, journal.NewRunID()}}, []string{"k3", "k1"}},
		"key":             {journal.ListFilter{Key: "k3"}, []string{"k3"}},
		"no such key":     {journal.ListFilter{Key: "k"}, nil},
		"key prefix":      {journal.ListFilter{KeyPrefix: "k"}, []string{"k5", "k4", "k3", "k2", "k1", "k0"}},
		"workflow":        {journal.ListFilter{Workflow: "other"}, []string{"k5"}},
		"version":         {journal.ListFilter{Workflow: flow, Version: 2}, []string{"k3", "k1"}},
		"open":            {journal.ListFilter{Status: &open}, []string{"k5", "k4", "k3", "k1"}},
		"failed":          {journal.ListFilter{Status: &failed}, []string{"k2"}},
		"blocked":         {journal.ListFilter{State: &blocked}, []string{"k4"}},
		"ready":           {journal.ListFilter{State: &ready}, []string{"k5", "k3", "k1"}},
		"label":           {journal.ListFilter{Labels: map[string]string{"parity": "1"}}, []string{"k5", "k3", "k1"}},
		"labels":          {journal.ListFilter{Labels: map[string]string{"parity": "0", "third": "1"}}, []string{"k4"}},
		"no such label":   {journal.ListFilter{Labels: map[string]string{"parity": "2"}}, nil},
		"everything":      {journal.ListFilter{Workflow: flow, Status: &open, KeyPrefix: "k", Labels: map[string]string{"third": "0"}}, []string{"k3"}},
		"status and time": {journal.ListFilter{Status: &failed, Until: k.j.Now().Add(-time.Hour)}, nil},
	} {
		k.same(name, k.listed(c.f), c.want)
		c.f.Limit = 1 // the same in pages of one
		k.same(name+", paged", k.listed(c.f), c.want)
	}
}

// A prefix is literal: the wildcards of the database's patterns mean nothing in it.
func listKeyPrefix(k *kit) {
	for _, key := range []string{"a%b", "a_b", "axb", `a\b`, "A%b", "ä"} {
		k.starts(journal.Start{Key: key})
	}
	for prefix, want := range map[string][]string{
		"a%": {"a%b"}, "a_": {"a_b"}, `a\`: {`a\b`}, "a": {`a\b`, "axb", "a_b", "a%b"}, "A": {"A%b"}, "ä": {"ä"}, "%": nil,
	} {
		k.same(fmt.Sprintf("prefix %q", prefix), k.listed(journal.ListFilter{KeyPrefix: prefix}), want)
	}
}

// listPages: while new runs come, the pages behind a cursor show each older run once.
func listPages(k *kit) {
	want := map[string]bool{}
	for i := range 25 {
		key := fmt.Sprintf("old%02d", i)
		want[key] = true
		k.starts(journal.Start{Key: key})
	}
	f := journal.ListFilter{Limit: 4}
	var last time.Time
	for {
		page, err := k.j.List(k.ctx, f)
		k.ok(err)
		if len(page.Runs) > 4 || page.Now.IsZero() {
			k.t.Fatalf("a page of %d runs at %s", len(page.Runs), page.Now)
		}
		for _, r := range page.Runs {
			if !want[r.Key] {
				k.t.Fatalf("run %q is on two pages, or came later", r.Key)
			}
			delete(want, r.Key)
			if !last.IsZero() && r.CreatedAt.After(last) {
				k.t.Errorf("run %q is newer than the one before it", r.Key)
			}
			last = r.CreatedAt
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			break
		}
		k.starts(journal.Start{Key: fmt.Sprintf("new%d", len(want))})
	}
	if len(want) > 0 {
		k.t.Errorf("on no page: %v", want)
	}
}

// The window includes its beginning and excludes its end, so that windows side by side list every
// run once.
func listTimeWindow(k *kit) {
	var created []time.Time
	for i := range 3 {
		id := k.starts(journal.Start{Key: fmt.Sprint(i)})[0].Run
		created = append(created, k.row(id).CreatedAt)
		k.eventually("the store's clock moves", func() bool { return k.claim(0, 0).Now.After(created[i]) })
	}
	if !created[0].Before(created[1]) || !created[1].Before(created[2]) {
		k.t.Fatalf("created at %v", created)
	}
	k.same("since", k.listed(journal.ListFilter{Since: created[1]}), []string{"2", "1"})
	k.same("until", k.listed(journal.ListFilter{Until: created[1]}), []string{"0"})
	k.same("window", k.listed(journal.ListFilter{Since: created[1], Until: created[2]}), []string{"1"})
}

// A cursor that no page has returned is refused, instead of being taken for the beginning.
func listBrokenCursor(k *kit) {
	k.begin(3)
	for _, cursor := range []string{"x", "%", "00000000", "ffffffffffffffffffffffffffffffffffffffff"} {
		if page, err := k.j.List(k.ctx, journal.ListFilter{Cursor: cursor}); err == nil {
			k.t.Errorf("cursor %q gave %d runs", cursor, len(page.Runs))
		}
	}
}
