package journaltest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/filter"
)

// A condition selects the runs that filter.Match selects, in the order that it says, on pages of
// any size: in every store.
var findChecks = []check{
	{"Find_SelectsWhatAFilterMeans", findMeans},
	{"Find_WithOtherFields", findWithFields},
	{"Find_OddFailures", findOddFailures},
	{"Find_AnEndThatWasTakenBack", findBack},
	{"Find_NowIsOfTheFirstPage", findNow},
	{"Find_RefusesAForeignCursor", findForeignCursor},
	{"Find_RefusesWhatIsNoFilter", findRefuses},
}

// failedWith is the end of a run that failed with a chain of causes.
func failedWith(list ...*journal.Failure) journal.Event {
	for i := range list[1:] {
		list[i].Cause = list[i+1]
	}
	return journal.Event{Kind: journal.RunFailed, Payload: journal.EncodeFailure(list[0])}
}

// labelsOf are labels whose texts are nearly numbers, times and truth values, and really.
var labelsOf = []map[string]string{
	{"total": "100", "paid": "true", "due": "2026-11-28"},
	{"total": "100.00", "paid": "false", "due": "2026-11-28T00:00:00Z"},
	{"total": "-0", "paid": "TRUE", "due": "2026-11-28T02:00:00.000001+02:00"},
	{"total": "0.1", "due": "2026-02-30"},
	{"total": "1e2", "due": "2026-13-01T00:00:00Z"},
	{"total": "99999999999999999999", "due": "2026-11-28T24:00:00Z"},
	{"total": "+7", "paid": "", "due": "tomorrow"},
	{"total": " 7", "my key": `"quoted" % \ text`, "due": "2026-11-28T10:00:00.1234567Z"},
	{"total": "", "my key": "grün", "order": "x"},
	{},
}

// plantRuns makes runs of every kind that a condition can tell apart, each with a key.
func plantRuns(k *kit) (parent journal.RunID, node journal.NodeID) {
	node = k.join(leaseLong).ID()
	var starts []journal.Start
	for i := range 14 {
		starts = append(starts, journal.Start{Key: fmt.Sprintf("k%02d", i), Priority: int16(1 + i%5), Labels: labelsOf[i%len(labelsOf)]})
	}
	starts[1].Timeout, starts[2].Timeout = time.Hour, time.Minute
	owners := map[string]*owner{}
	for i, o := range startAndTake(k, node, starts) {
		owners[starts[i].Key] = o
	}
	for i, end := range []journal.Event{
		completed("1"), completed("2"),
		failedWith(&journal.Failure{Type: journal.FailureTimeout, Message: "late"}),
		failedWith(&journal.Failure{Type: "*fmt.wrapError", Message: "zero \x00 inside"}, &journal.Failure{Type: "pay.Declined", As: "declined", Is: []string{"money", "card"}}),
		failedWith(&journal.Failure{Type: "", Message: "a text"}),
		{Kind: journal.RunFailed, Payload: journal.Payload{Data: []byte("no failure")}},
		ended(journal.RunCancelled), ended(journal.RunTerminated),
	} {
		owners[starts[i].Key].commit(closed, started(), end)
	}
	c := owners["k08"].build(parkUntil(k.j.Now()), started())
	c.Waiting = []string{"signal go"}
	owners["k08"].submit(c)
	k.takeRun(node, owners["k08"].run).commit(block("b", k.j.Now().Add(time.Hour))) // its row keeps what it waited for
	due := k.j.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	for key, waiting := range map[string][]string{
		"k09": {"signal go", "timer " + due.Format(time.RFC3339Nano)}, "k10": {"step a @", "step %"}, "k11": {"timer " + due.Add(time.Hour).Format(time.RFC3339Nano)},
	} {
		c := owners[key].build(parkUntil(due), started())
		c.Waiting = waiting
		owners[key].submit(c)
	}
	o := owners["k12"]
	c = o.build(park, asksChild(1))
	child := o.child(1, journal.CloseAbandon)
	child.Key, child.Workflow = "child", "other"
	c.Starts = []journal.Start{child}
	o.submit(c) // and k13 stays owned
	k.starts(
		journal.Start{Key: "k00", Reuse: journal.ReuseAllow, Workflow: flow, Version: 2}, // takes the key over
		journal.Start{Key: "later", Delay: 10 * time.Hour, Labels: labelsOf[3], Version: 3},
		journal.Start{Key: "x%y", Workflow: "other", Queue: "slow"}, journal.Start{Key: "x_y", Workflow: "other", Queue: "slow"},
		journal.Start{Workflow: "other"}, // without a key
		journal.Start{Key: "limited", Limits: []journal.LimitNeed{need("runs", "")}},
	)
	k.ok(k.admin(owners["k11"].run, driver.AdminPause))
	return o.run, node
}

// startAndTake starts runs and returns their owners in the order of the starts.
func startAndTake(k *kit, node journal.NodeID, starts []journal.Start) []*owner {
	k.t.Helper()
	at := map[journal.RunID]int{}
	for i, s := range k.starts(starts...) {
		at[s.Run] = i
	}
	owners := make([]*owner, len(starts))
	for _, o := range k.take(node, len(starts)) {
		owners[at[o.run]] = o
	}
	return owners
}

// meant returns the ids that a filter means among runs, in its order. The filter's relative times
// are so far away that it does not matter when now is.
func meant(k *kit, text string, runs []journal.Run) (ids []journal.RunID) {
	k.t.Helper()
	q, err := filter.NewQuery(text, "", func() (time.Time, error) { return k.j.Now(), nil })
	k.ok(err)
	var places []filter.Place
	for i := range runs {
		if q.Selects(&runs[i]) {
			p, _ := q.Order.Place(&runs[i])
			places = append(places, p)
		}
	}
	slices.SortFunc(places, q.Order.Compare)
	for _, p := range places {
		ids = append(ids, p.Run)
	}
	return ids
}

// idsOf returns the ids of all pages of a filter.
func idsOf(k *kit, f journal.ListFilter) (ids []journal.RunID) {
	k.t.Helper()
	for _, r := range k.listAll(f) {
		ids = append(ids, r.ID)
	}
	return ids
}

// findMeans compares the store with filter.Match over all fields and operators, and a hundred
// random filters of them.
func findMeans(k *kit) {
	parent, node := plantRuns(k)
	all := k.listAll(journal.ListFilter{})
	g := &filterProgram{rand.New(rand.NewPCG(14, 3)), all, parent, node}
	texts := slices.Clone(fixedFilters)
	for range 120 {
		texts = append(texts, g.filter())
	}
	selected := 0
	for i, text := range texts {
		want := meant(k, text, all)
		if len(want) > 0 && len(want) < len(all) {
			selected++
		}
		k.same(text, idsOf(k, journal.ListFilter{Where: text, Limit: 1 + i%(len(all)+1)}), want)
		if k.t.Failed() {
			return
		}
	}
	if selected < len(texts)/3 {
		k.t.Errorf("only %d of %d filters select some runs and not others", selected, len(texts))
	}
}

// fixedFilters are what a random filter is rarely.
var fixedFilters = []string{
	"", "order by closed", "order by duration asc", "order by created asc",
	`status in ("failed", "blocked")`, `status in (blocked, quarantined, open, open)`, `status = paused`, `status in (paused, failed)`, `status = limited`, `status in (limited, paused, failed) order by created asc`,
	`not status = limited`, `status != "limited"`, `status in (open, limited)`, `status in ("failed", "completed")`,
	`status in ("failed", "failed", "cancelled")`, `not status in ("failed", "blocked")`, `status in (failed, cancelled) order by duration desc`,
	`error.class = "Timeout"`, `error.class = "reprise.Timeout"`, `error.class = "declined"`, `error.class = "card" and status = failed`,
	`error.class != "Timeout"`, `error.class is not set and closed is set`, `error.class starts with "pay."`,
	`key starts with "x%"`, `key starts with "x_"`, `key = "k00"`, `key in ("k00", "x%y")`, `not key = "k00"`, `key != "k00"`, `key is not set`,
	`waiting = "timer"`, `waiting starts with "signal"`, `waiting starts with "signal" and key = "k08"`, `waiting starts with "step"`, `waiting = "step a @"`, `waiting != "timer"`, `not waiting = "timer"`,
	`total > 7`, `total = 100`, `total = 0`, `total >= -0.0`, `total between 0.1 and 100`, `total in (7, "1e2")`, `total > 99999999999999999998.5`,
	`due < 2026-11-29`, `due = 2026-11-28`, `due between 2026-11-28 and 2026-11-28T00:00:00.000001Z`, `due > -1000w`,
	`paid = true`, `paid != true`, `not paid = true`, `paid in (true, false)`, `label."my key" starts with "\"quoted\" %"`, `label."my key" = "grün"`,
	`label.order is set`, `closed > -1h order by closed asc`, `closed > +1h`, `closed between -2d and now order by duration desc`,
	`started > now`, `deadline is set and deadline < +30m`, `duration >= 0s and duration < 1h order by duration asc`, `node is set`,
	`workflow = "flow" and status = open order by created asc`, `created > -1h and created <= +1h`,
}

// Every field of a filter that is set must match, whatever the condition is about.
func findWithFields(k *kit) {
	parent, _ := plantRuns(k)
	open, blocked, limited := journal.Open, journal.Blocked, journal.Limited
	for name, f := range map[string]journal.ListFilter{
		"[child]":       {Parent: parent, Where: `workflow = "other"`},
		"[limited]":     {State: &limited},
		"[limited] ":    {State: &limited, Where: "created < +1h order by created asc"},
		"[k08]":         {State: &blocked, Where: "created < +1h order by created asc"},
		"[x_y x%y]":     {KeyPrefix: "x", Where: `queue = "slow"`},
		"[k00 k00]":     {Key: "k00", Where: "created < +1h"},
		"[k09 k11]":     {Status: &open, Where: `waiting = "timer" order by created asc`},
		"[k01]":         {Labels: map[string]string{"paid": "false"}, Where: "status = completed"},
		"[]":            {Key: "k01", Where: `key = "k02"`},
		"[k00]":         {Workflow: flow, Version: 2, Where: `key = "k00"`},
		"[k00 k01 k02]": {Until: k.j.Now().Add(time.Hour), Where: `key in ("k02", "k01", "k00") and closed is set order by closed asc`},
	} {
		f.Limit = 2
		if got := fmt.Sprint(k.listed(f)); got != strings.TrimSpace(name) {
			k.t.Errorf("%s: got %s, want %s", f.Where, got, name)
		}
	}
}

// oddFailures are failures that are JSON to one parser and not to another: halves of a pair of
// surrogates, whole pairs, what only looks like one, numbers without end, the character 0.
var oddFailures = []string{
	`{"type":"pay.Odd","message":"m","data":{"half":"\ud800"}}`,
	`{"type":"pay.Odd","message":"m","data":["\uDC00\ud800\uD800\udc00\udc01",1e400000,-1e400000]}`,
	`{"type":"pay.Odd","message":"\u0000","data":{"back\\ud800":"\\\\ud800\\u0000"}}`,
	`{"type":"pay.\ud83d\ude00","message":"m","as":"half \ude00\ud83d"}`,
	`{"type":"pay.\\ud83d","message":"m","cause":{"type":"pay.Odd","message":"m","is":["\ud83d"],"data":1E+999999}}`,
}

// The names of a failure are found whatever else is in it.
func findOddFailures(k *kit) {
	for i, o := range k.own(k.join(leaseLong).ID(), len(oddFailures)) {
		o.commit(closed, started(), journal.Event{Kind: journal.RunFailed,
			Payload: journal.Payload{Encoding: journal.EncodingFailure, Data: []byte(oddFailures[i])}})
	}
	all := k.listAll(journal.ListFilter{})
	for text, want := range map[string]int{
		`error.class = "pay.Odd"`: 4, "error.class = \"pay.\U0001F600\"": 1, "error.class = \"half \ufffd\ufffd\"": 1, "error.class = \"\ufffd\"": 1,
		`error.class = "pay.\\ud83d"`: 1, `error.class starts with "pay."`: 5, `not error.class = "pay.Odd"`: 1,
	} {
		ids := meant(k, text, all)
		k.same(text+", as filter.Match has it", len(ids), want)
		k.same(text, idsOf(k, journal.ListFilter{Where: text}), ids)
	}
}

// All pages count from the moment of the first one: a run that has closed meanwhile is on none.
func findNow(k *kit) {
	node := k.join(leaseLong).ID()
	owners := k.own(node, 4)
	for _, o := range owners[:3] {
		o.commit(closed, started(), completed("1"))
	}
	f := journal.ListFilter{Where: "closed <= now order by closed asc", Limit: 1}
	page, err := k.j.List(k.ctx, f)
	k.ok(err)
	for later := page.Now; !later.After(page.Now); time.Sleep(time.Millisecond) { // the clock of a bubble stands still
		next, err := k.j.List(k.ctx, journal.ListFilter{Limit: 1})
		k.ok(err)
		later = next.Now
	}
	owners[3].commit(closed, started(), completed("1"))
	runs := len(page.Runs)
	for f.Cursor = page.Next; f.Cursor != ""; f.Cursor = page.Next {
		page, err = k.j.List(k.ctx, f)
		k.ok(err)
		runs += len(page.Runs)
	}
	k.same("runs on all pages", runs, 3)
}

// A cursor of another order is refused, and so is what no page has returned.
func findForeignCursor(k *kit) {
	k.begin(2)
	page, err := k.j.List(k.ctx, journal.ListFilter{Limit: 1, Where: "version = 1"})
	k.ok(err)
	for _, cursor := range []string{page.Next, "1", strings.Repeat(".", 3), page.Runs[0].ID.String(), page.Runs[0].ID.String() + ".c.99999999999999999999.0",
		page.Runs[0].ID.String() + ".c.9223372036854775807.0"} {
		_, err := k.j.List(k.ctx, journal.ListFilter{Where: "version = 1 order by closed", Cursor: cursor})
		if !errors.Is(err, journal.ErrInvalid) {
			k.t.Errorf("cursor %q: %v", cursor, err)
		}
	}
	if _, err := k.j.List(k.ctx, journal.ListFilter{Cursor: page.Next}); err == nil {
		k.t.Error("a listing without a condition goes on from a cursor of one with")
	}
}

func findRefuses(k *kit) {
	for _, text := range []string{"workflow", `status = "broken"`, "'", "version > 1'); DROP TABLE runs; --", strings.Repeat("(", 5000)} {
		if _, err := k.j.List(k.ctx, journal.ListFilter{Where: text}); !errors.Is(err, journal.ErrInvalid) {
			k.t.Errorf("%.40s: %v", text, err)
		}
		if _, err := k.store.List(k.ctx, journal.ListFilter{Where: text}); !errors.Is(err, journal.ErrInvalid) {
			k.t.Errorf("%.40s, without the checks of a journal: %v", text, err)
		}
	}
}
