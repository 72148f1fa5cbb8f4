package driver

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
)

// Edit is what an operator's action changes in the rows of a run, and nothing of its state. It says
// what differs from the rows alone, so an edit that is repeated is none.
type Edit struct {
	Labels   map[string]*string // nil for none; a label without a value is removed
	Priority int16              // 0 leaves it
	Detail   string             // for the audit, see AuditTextBytesMax; empty if nothing changes
}

// Edit compares what an action asks for with the labels and the priority that the run has, which
// the store has locked. Too many labels are a *journal.LimitError, and labels that cannot be read
// the run's *journal.UnreadableError. An action that makes fewer labels of too many is none of
// those: a newer release may have another limit.
func (a *AdminAction) Edit(r *journal.Run) (e Edit, err error) {
	switch {
	case a.Kind == AdminSetPriority && a.Priority != r.Priority:
		return Edit{Priority: a.Priority, Detail: fmt.Sprintf("from %d to %d", r.Priority, a.Priority)}, nil
	case a.Kind != AdminSetLabels:
		return e, nil
	case r.Unreadable != nil:
		return e, r.Unreadable
	}
	var said []string
	for _, name := range slices.Sorted(maps.Keys(a.Labels)) {
		value := a.Labels[name]
		switch old, ok := r.Labels[name]; {
		case value == nil && !ok, value != nil && ok && *value == old:
			continue
		case value == nil:
			said = append(said, "removed "+name)
		default:
			said = append(said, fmt.Sprintf("set %s=%q", name, *value))
		}
		if e.Labels == nil {
			e.Labels = map[string]*string{}
		}
		e.Labels[name] = value
	}
	after := len(journal.Relabelled(r.Labels, e.Labels))
	if after > journal.LabelsMax && after > len(r.Labels) {
		return Edit{}, &journal.LimitError{What: "labels of the run", Size: after, Max: journal.LabelsMax}
	}
	e.Detail = auditText(strings.Join(said, ", "))
	return e, nil
}
