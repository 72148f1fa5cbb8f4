package api

import (
	"maps"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/ui/record"
)

// allows tells whether the actor may do something. run may be nil.
func (c *call) allows(verb string, run *journal.Run) bool {
	return c.h.o.Allow == nil || c.h.o.Allow(c.ctx, c.actor, verb, run)
}

// sees tells whether the actor may know of a run.
func (c *call) sees(run *journal.Run) bool { return c.allows(See, run) }

// may refuses what the actor may not do. Of a run it is only asked about one that the actor sees.
func (c *call) may(verb string, run *journal.Run) error {
	if c.allows(verb, run) {
		return nil
	}
	return refuse(forbidden, "%q may not do %q", c.actor, verb)
}

// mayDo are the verbs below a path, about one run, that the actor may do with it, nil if nobody is
// asked. A page offers no others.
func mayDo(c *call, path string, run *journal.Run) []string {
	if c.h.o.Allow == nil {
		return nil
	}
	asked := map[string]bool{}
	for _, op := range c.h.byName {
		v := op.verb()
		if _, known := asked[v]; !known && strings.HasPrefix(op.path, path) {
			asked[v] = c.allows(v, run)
		}
	}
	maps.DeleteFunc(asked, func(_ string, may bool) bool { return !may })
	return slices.Sorted(maps.Keys(asked))
}

// runPath is where the operations about one run are.
const runPath = "/runs/{run}"

// seen returns those of some runs that exist, and whether the actor may see them.
func (c *call) seen(ids []journal.RunID) (map[journal.RunID]bool, error) {
	rows, err := rowsOf(c, ids)
	if err != nil {
		return nil, err
	}
	all := map[journal.RunID]bool{}
	for id, row := range rows {
		all[id] = c.sees(row)
	}
	return all, nil
}

// rowsOf returns those of some runs that exist.
func rowsOf(c *call, ids []journal.RunID) (map[journal.RunID]*journal.Run, error) {
	all := map[journal.RunID]*journal.Run{}
	for len(ids) > 0 {
		n := min(len(ids), journal.BatchMax)
		for f := (journal.ListFilter{IDs: ids[:n], Limit: n}); ; { // a page may have fewer runs than there are ids
			page, err := c.h.client.List(c.ctx, f)
			if err != nil {
				return nil, err
			}
			for i := range page.Runs {
				all[page.Runs[i].ID] = &page.Runs[i]
			}
			if f.Cursor = page.Next; f.Cursor == "" {
				break
			}
		}
		ids = ids[n:]
	}
	return all, nil
}

// records are the records of runs that the actor may see. A parent that the actor may not see is
// left out of them.
func (c *call) records(runs []journal.Run) ([]record.Run, error) {
	list := []record.Run{}
	var parents []journal.RunID
	for i := range runs {
		list = append(list, c.maker.Run(&runs[i]))
		if p := runs[i].Parent; p != nil {
			parents = append(parents, p.Run)
		}
	}
	if c.h.o.Allow == nil || len(parents) == 0 {
		return list, nil
	}
	seen, err := c.seen(parents)
	if err != nil {
		return nil, err
	}
	for i := range runs {
		if p := runs[i].Parent; p != nil && !seen[p.Run] {
			list[i].Parent, list[i].ParentCmd, list[i].ParentGen = "", 0, 0
		}
	}
	return list, nil
}

// record is the record of one run.
func (c *call) record(run *journal.Run) (record.Run, error) {
	list, err := c.records([]journal.Run{*run})
	if err != nil {
		return record.Run{}, err
	}
	return list[0], nil
}

// inputs are the payloads that HideInputs leaves out.
var inputs = map[string]bool{record.FromInput: true, record.FromSignal: true, record.FromUpdate: true}

// shown decides what is shown of payloads; nil shows everything.
func (c *call) shown() func(record.Source, *record.Payload) *record.Payload {
	o := &c.h.o
	if !o.HideInputs && o.Redact == nil {
		return nil
	}
	return func(from record.Source, p *record.Payload) *record.Payload {
		if o.HideInputs && inputs[from.Kind] {
			return nil
		}
		if o.Redact == nil {
			return p
		}
		p.Bytes = nil // which no rule can look into
		return o.Redact(c.ctx, c.actor, from, p)
	}
}
