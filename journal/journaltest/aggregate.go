package journaltest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/filter"
)

// An aggregate counts the runs that a listing lists, in every store alike.
var aggregateChecks = []check{
	{"Aggregate_CountsWhatIsListed", aggregateCounts},
	{"Aggregate_IsCapped", aggregateCap},
	{"Aggregate_ReadsHistories", aggregateHistories},
	{"Aggregate_RefusesWhatCannotBeGrouped", aggregateRefuses},
}

// aggregateCounts compares the store with filter.Tally over a listing, for random filters and
// groupings.
func aggregateCounts(k *kit) {
	parent, node := plantRuns(k)
	all := k.listAll(journal.ListFilter{})
	g := &filterProgram{rand.New(rand.NewPCG(7, 9)), all, parent, node}
	groupings := []journal.Grouping{
		{Field: "workflow"}, {Field: "version"}, {Field: "status"}, {Field: "queue"}, {Field: "priority"}, {Field: "total"}, {Field: "label.my key"},
		{Field: "created", Bucket: time.Hour}, {Field: "started", Bucket: 7 * time.Millisecond}, {Field: "closed", Bucket: time.Millisecond},
	}
	for i := range 40 {
		a := journal.Aggregate{Filter: journal.ListFilter{Where: g.filter()}, Histories: i%2 == 1}
		if i < len(groupings) {
			a.Filter.Where = ""
			a.By = groupings[i : i+1]
		}
		for range g.IntN(3) {
			a.By = append(a.By[:len(a.By):len(a.By)], groupings[g.IntN(len(groupings))])
		}
		by, err := filter.ParseBy(a.By)
		k.ok(err)
		tally := filter.NewTally(by)
		for _, run := range k.listAll(journal.ListFilter{Where: strings.Split(a.Filter.Where, " order by ")[0]}) {
			tally.Add(&run, told(k, &run, a.Histories))
		}
		got, err := k.j.Aggregate(k.ctx, a)
		k.ok(err)
		want := filter.Answer(tally.Groups(), by, tally.Runs(), filter.CapOf(&a), got.Now)
		if k.same(fmt.Sprintf("%s by %v", a.Filter.Where, a.By), got, want); k.t.Failed() {
			return
		}
	}
}

// told reads the history of a run as an aggregate does.
func told(k *kit, run *journal.Run, histories bool) *filter.Told {
	k.t.Helper()
	if !histories {
		return nil
	}
	return new(filter.TellFrom(k.history(run.ID).Events))
}

// aggregateHistories: attempts are those of the steps that have an outcome in the present
// generation.
func aggregateHistories(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	o.fails()
	k.ok(back(k, driver.AdminRetry, o.run, 2))
	o = k.take(node, 1)[0]
	o.commit(keep, stepFailed(2, "b"))
	k.ok(acts(k, forking(k, o.run, 2)))
	k.begin(1)
	all, err := k.j.Aggregate(k.ctx, journal.Aggregate{Histories: true})
	k.ok(err)
	k.same("all", all.Groups, []journal.Group{{Values: []string{}, Runs: 3, Steps: 3, Attempts: 5}})
	if _, err := k.j.Aggregate(k.ctx, journal.Aggregate{Histories: true, Cap: journal.HistoriesMax + 1}); !errors.Is(err, journal.ErrInvalid) {
		k.t.Errorf("a cap that is too large: %v", err)
	}
	k.take(node, 2)
}

// aggregateCap: no more runs are counted than the cap says, and the answer says so.
func aggregateCap(k *kit) {
	k.begin(5)
	k.starts(journal.Start{Workflow: "other"})
	for most, want := range map[int]string{3: "3 true", 6: "6 true", 7: "6 false", 0: "6 false"} {
		out, err := k.j.Aggregate(k.ctx, journal.Aggregate{Cap: most, By: []journal.Grouping{{Field: "workflow"}}})
		k.ok(err)
		sum := 0
		for _, g := range out.Groups {
			sum += g.Runs
		}
		if got := fmt.Sprint(out.Runs, " ", out.Capped); got != want || sum != out.Runs || out.Now.IsZero() {
			k.t.Errorf("with a cap of %d: %s, %d in groups, at %s; want %s", most, got, sum, out.Now, want)
		}
	}
	out, err := k.j.Aggregate(k.ctx, journal.Aggregate{Filter: journal.ListFilter{Where: `workflow = "nothing"`}})
	k.ok(err)
	k.same("groups of nothing", len(out.Groups), 0)
}

func aggregateRefuses(k *kit) {
	for _, by := range [][]journal.Grouping{
		{{Field: "id"}}, {{Field: "duration"}}, {{Field: "created"}}, {{Field: "workflow", Bucket: 1}}, {{Field: "wrkflow"}}, {{Field: ""}}, {{Field: "label."}},
		{{Field: "total", Bucket: time.Second}}, {{Field: "closed", Bucket: time.Nanosecond}}, {{Field: "a"}, {Field: "b"}, {Field: "c"}, {Field: "d"}, {Field: "e"}},
		{{Field: "label.\x00"}},
	} {
		if _, err := k.j.Aggregate(k.ctx, journal.Aggregate{By: by}); !errors.Is(err, journal.ErrInvalid) {
			k.t.Errorf("%q: %v", by, err)
		}
	}
	for _, a := range []journal.Aggregate{{Cap: -1}, {Cap: journal.AggregateMax + 1}, {Filter: journal.ListFilter{Where: "total >"}}} {
		if _, err := k.j.Aggregate(k.ctx, a); !errors.Is(err, journal.ErrInvalid) {
			k.t.Errorf("%+v: %v", a, err)
		}
	}
}
