package api

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/filter"
	"github.com/reprise-run/reprise/ui/record"
)

// filterParams select runs, as the flags of the command do.
var filterParams = []param{
	text("where", "a condition, and an order, see docs/finding-runs.md: status = failed and closed > -2d order by duration desc"),
	text("workflow", "runs of this workflow"),
	number("version", "runs of this version of their workflow"),
	text("status", "open, completed, failed, cancelled or terminated"),
	text("state", "open runs that are limited, ready, blocked, quarantined, paused, pausing or interrupting"),
	text("key", "runs that have, or had, this key"),
	text("key_prefix", "runs whose key begins with this"),
	list("label", "runs with this label, as name=value; may be repeated, and all must match"),
	text("parent", "children of this run: an id, or key=KEY"),
	text("unchanged", "open runs that may still take the old branch of this workflow.Changed"),
	text("since", "runs started at or after this time: 2026-11-29T12:00:00Z, or 90m, 12h, 3d ago"),
	text("until", "runs started before this time"),
}

var limitParam, cursorParam = number("limit", "how many there are at most: 1 to 1000; default 50"), text("cursor", "go on behind the page that gave this as next")

func findOperations() []*operation {
	return []*operation{
		{method: http.MethodGet, path: "/runs", verbs: []string{"run list"}, summary: "List runs, newest first unless the condition has an order.",
			params: append([]param{limitParam, cursorParam}, filterParams...), answer: reflect.TypeFor[record.RunPage](), do: listRuns},
		{method: http.MethodGet, path: "/runs/count", verbs: []string{"run count"}, summary: "Count runs, by what they have in common, with times.",
			params: append([]param{
				list("by", "what runs are grouped by: workflow, version, status, queue, priority, a label, or created:1h, started:1h, closed:1d; may be repeated, at most four times"),
				number("cap", "how many runs are counted at most; default 100000, or 10000 with histories"),
				flag("histories", "also attempts of steps: some lookups more a run"),
			}, filterParams...), answer: reflect.TypeFor[record.Tally](), do: countRuns},
	}
}

// filter makes the parameters a filter of the journal. A parent that the actor may not see has no
// children.
func (c *call) filter() (f journal.ListFilter, err error) {
	f = journal.ListFilter{Where: c.text("where"), Workflow: c.text("workflow"), Key: c.text("key"), KeyPrefix: c.text("key_prefix"),
		Unchanged: c.text("unchanged"), Labels: c.pairs("label"), Version: int32(c.number("version", 0, 1, 1<<31-1))}
	if i := c.word("status", record.Statuses()); i >= 0 {
		f.Status = new(journal.Status(i))
	}
	if i := c.word("state", record.States()); i >= 0 {
		f.State = new(journal.Limited + journal.TaskState(i))
	}
	for name, at := range map[string]*time.Time{"since": &f.Since, "until": &f.Until} {
		if text := c.text(name); text != "" {
			if *at, err = record.ParseMoment(text, c.h.now()); err != nil {
				c.note(refuse(invalidRequest, "parameter %q: %v", name, err))
			}
		}
	}
	if c.wrong != nil {
		return f, c.wrong
	}
	if parent := c.text("parent"); parent != "" {
		row, err := c.rowOf(parent)
		if err != nil {
			return f, err
		}
		f.Parent = row.ID
	}
	return f, nil
}

func listRuns(c *call) (any, error) {
	if err := c.may(c.op.verb(), nil); err != nil {
		return nil, err
	}
	limit := c.limit()
	f, err := c.filter()
	if err != nil {
		return nil, err
	}
	return c.page(f, c.text("cursor"), limit)
}

// page is a page of the runs that a filter selects and the actor may see. It may have fewer than
// limit, and none, although there are more: after scanMax runs it ends.
func (c *call) page(f journal.ListFilter, cursor string, limit int) (page record.RunPage, err error) {
	f.Cursor = cursor
	var runs []journal.Run
	if c.h.o.Allow == nil {
		f.Limit = limit
		got, err := c.h.client.List(c.ctx, f)
		if err != nil {
			return page, err
		}
		runs, page.Next = got.Runs, got.Next
	} else {
		if f.Cursor, err = c.h.cursors.open(cursor); err != nil {
			return page, err
		}
		next := ""
		if runs, next, err = c.scan(f, limit); err != nil {
			return page, err
		}
		page.Next = c.h.cursors.seal(next)
	}
	page.Runs, err = c.records(runs)
	return page, err
}

// scan reads runs until so many are found that the actor may see, and returns where to go on.
func (c *call) scan(f journal.ListFilter, limit int) (runs []journal.Run, next string, err error) {
	for looked := 0; looked < c.scans; {
		f.Limit = min(max(limit, scanPage), journal.ListMax)
		got, err := c.h.client.List(c.ctx, f)
		if err != nil {
			return nil, "", err
		}
		for i := range got.Runs {
			if !c.sees(&got.Runs[i]) {
				continue
			}
			if runs = append(runs, got.Runs[i]); len(runs) == limit && i < len(got.Runs)-1 {
				f.Limit = i + 1 // the same page again, for the cursor behind this run
				cut, err := c.h.client.List(c.ctx, f)
				return runs, cut.Next, err
			}
		}
		looked += len(got.Runs)
		if f.Cursor = got.Next; f.Cursor == "" || len(runs) == limit {
			break
		}
	}
	return runs, f.Cursor, nil
}

func countRuns(c *call) (any, error) {
	if err := c.may(c.op.verb(), nil); err != nil {
		return nil, err
	}
	q := journal.Aggregate{Histories: c.flag("histories"), Cap: int(c.number("cap", 0, 1, journal.AggregateMax))}
	var err error
	if q.By, err = record.ParseGroupings(c.query["by"]); err != nil {
		return nil, refuse(invalidRequest, "parameter %q: %v", "by", err)
	}
	if q.Filter, err = c.filter(); err != nil {
		return nil, err
	}
	count := c.h.client.Aggregate
	if c.h.o.Allow != nil {
		count = func(_ context.Context, q journal.Aggregate) (journal.Aggregated, error) { return c.count(q, c.list) }
	}
	out, err := count(c.ctx, q)
	if err != nil {
		return nil, err
	}
	return record.TallyOf(&out, q.By), nil
}

// list lists runs as the store does.
func (c *call) list(f journal.ListFilter) (journal.RunPage, error) { return c.h.client.List(c.ctx, f) }

// count counts the runs that the actor may see, among the first of all that a call looks at. A
// store would count the others too.
func (c *call) count(q journal.Aggregate, list func(journal.ListFilter) (journal.RunPage, error)) (out journal.Aggregated, err error) {
	if q.Histories {
		return out, howTo(unsupported, "leave histories out", "histories are counted by the store, which does not know which runs the actor may see")
	}
	by, err := filter.ParseBy(q.By)
	if err != nil {
		return out, err
	}
	most := c.scans
	if q.Cap > 0 {
		most = min(q.Cap, c.scans)
	}
	tally, looked, capped := filter.NewTally(by), 0, false
	q.Filter.Limit = journal.ListMax
	for {
		got, err := list(q.Filter)
		if err != nil {
			return out, err
		}
		for i := range got.Runs {
			switch {
			case !c.sees(&got.Runs[i]):
			case tally.Runs() == most:
				capped = true
			default:
				tally.Add(&got.Runs[i], nil)
			}
		}
		looked += len(got.Runs)
		q.Filter.Cursor, out.Now = got.Next, got.Now
		if got.Next == "" || capped || looked >= c.scans {
			capped = capped || got.Next != ""
			break
		}
	}
	out = filter.Answer(tally.Groups(), by, tally.Runs(), most, out.Now)
	out.Capped = capped
	return out, nil
}
