package replay

import (
	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/journal"
)

// labels are what listings find the run by. Like what a run publishes they are no part of the
// history, so code may begin to set labels in the middle of a run; [Info] goes on to have those of
// the start. Only changes go into a commit: an operator may have set other labels meanwhile.
type labels struct {
	now     map[string]string  // never changed in place, others may hold it
	changed map[string]*string // since the last Take; nil for none
}

// Relabel sets labels of the run, and removes those without a value. Labels that exceed a limit
// stop the machine.
func (e *Env) Relabel(changes map[string]*string) {
	if _, err := e.current(); err != nil {
		callsite.Refuse(err)
	}
	e.spend()
	if e.replaying || len(changes) == 0 {
		return
	}
	l := &e.labels
	now := journal.Relabelled(l.now, changes)
	if len(now) > journal.LabelsMax {
		e.Abort(&journal.LimitError{What: "labels of the run" + callsite.Caller().At(), Size: len(now), Max: journal.LabelsMax})
	}
	if l.changed == nil {
		l.changed = make(map[string]*string, len(changes))
	}
	for name, value := range changes {
		l.changed[name] = value
	}
	l.now = now
}

// take returns what is to be committed, nil if nothing was changed since the last time.
func (l *labels) take() map[string]*string {
	changed := l.changed
	l.changed = nil
	return changed
}
