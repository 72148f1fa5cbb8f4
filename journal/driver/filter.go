package driver

import (
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/filter"
)

// checkFilter refuses a filter that no run can match, or that asks for too much. Stores differ in
// what they make of text that they cannot hold, so none of it reaches them.
func checkFilter(f *journal.ListFilter) error {
	switch {
	case f.Limit < 0 || f.Limit > journal.ListMax:
		return &journal.LimitError{What: "list limit", Size: f.Limit, Max: journal.ListMax}
	case len(f.IDs) > journal.BatchMax:
		return &journal.LimitError{What: "ids in a list filter", Size: len(f.IDs), Max: journal.BatchMax}
	case len(f.Labels) > journal.LabelsMax:
		return &journal.LimitError{What: "labels in a list filter", Size: len(f.Labels), Max: journal.LabelsMax}
	}
	if f.Where != "" {
		if _, err := filter.NewQuery(f.Where, f.Cursor, func() (time.Time, error) { return time.Time{}, nil }); err != nil {
			return err
		}
	}
	for what, text := range map[string]string{
		"key": f.Key, "key prefix": f.KeyPrefix, "workflow": f.Workflow, "change": f.Unchanged,
	} {
		if err := journal.CheckText(what, text, journal.KeyBytesMax); err != nil {
			return err
		}
	}
	for k, v := range f.Labels {
		if err := journal.CheckText("label", k, journal.LabelKeyBytesMax); err != nil {
			return err
		}
		if err := journal.CheckText("label value", v, journal.LabelValueBytesMax); err != nil {
			return err
		}
	}
	return nil
}

// checkAudit refuses a filter that no entry can match, or that asks for too much.
func checkAudit(f *journal.AuditFilter) error {
	if f.Limit < 0 || f.Limit > journal.ListMax {
		return &journal.LimitError{What: "audit limit", Size: f.Limit, Max: journal.ListMax}
	}
	if f.Limit == 0 {
		f.Limit = journal.ListDefault
	}
	if err := journal.CheckText("actor", f.Actor, journal.NameBytesMax); err != nil {
		return err
	}
	return journal.CheckText("verb", f.Verb, journal.NameBytesMax)
}

// checkAggregate is checkFilter for what is counted.
func checkAggregate(a *journal.Aggregate) error {
	most := journal.AggregateMax
	if a.Histories {
		most = journal.HistoriesMax
	}
	if a.Cap < 0 || a.Cap > most {
		return &journal.LimitError{What: "cap of an aggregate", Size: a.Cap, Max: most}
	}
	if _, err := filter.ParseBy(a.By); err != nil {
		return err
	}
	return checkFilter(&a.Filter)
}
