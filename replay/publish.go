package replay

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/journal"
)

// SetShown tells what the run shows to others so far, earlier generations and what the machine
// replays included: the values that it has published, and its labels.
func (m *Machine) SetShown(published []journal.Published, labels map[string]string) {
	m.env.published.now, m.env.labels.now = published, labels
}

// published is what a run shows to those who do not have its code.
//
// It is no part of the history: code cannot read it back, so replay need not repeat it, and code
// may begin to publish in the middle of a run. In Replay nothing is published, because what is
// stored is newer than that. The list goes into the commit as a whole, so a store only keeps the
// last one, and its limits hold for the run and not for a generation.
type published struct {
	now     []journal.Published // in order of names; never changed in place, others may hold it
	changed bool                // since the last Take
}

// Publish replaces the value of a name. One that exceeds a limit stops the machine.
func (e *Env) Publish(name string, value journal.Payload) {
	if _, err := e.current(); err != nil {
		callsite.Refuse(err)
	}
	e.spend()
	if e.replaying {
		return
	}
	p := &e.published
	list := slices.Clone(p.now)
	i, there := slices.BinarySearchFunc(list, name, func(p journal.Published, name string) int { return cmp.Compare(p.Name, name) })
	if there {
		list[i].Value = value
	} else {
		list = slices.Insert(list, i, journal.Published{Name: name, Value: value})
	}
	bytes := 0
	for i := range list {
		bytes += len(list[i].Name) + len(list[i].Value.Data)
	}
	where := "published value " + name + callsite.Caller().At()
	if len(list) > journal.PublishedMax {
		e.Abort(&journal.LimitError{What: where + ": names that the run has published", Size: len(list), Max: journal.PublishedMax})
	}
	if bytes > journal.PublishedBytesMax {
		e.Abort(&journal.LimitError{What: fmt.Sprintf("%s: all that the run has published, in bytes,", where), Size: bytes, Max: journal.PublishedBytesMax})
	}
	p.now, p.changed = list, true
}

// take returns what is to be committed, nil if nothing was published since the last time.
func (p *published) take() []journal.Published {
	if !p.changed {
		return nil
	}
	p.changed = false
	return p.now
}
