package faulty

import (
	"errors"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// errUnreadable is why a run cannot be read. It never can here, so nobody sees what is behind it.
var errUnreadable = errors.New("the fault says so")

// spoil takes away from a run what Options.Unreadable says cannot be read: the attempts of its
// task.
func (f *Store) spoil(run *journal.Run, task *journal.Task) {
	if f.o.Unreadable == nil || task == nil || !f.o.Unreadable(run.ID) {
		return
	}
	task.Attempts = nil
	driver.NoteUnreadable(run, "attempts", errUnreadable)
}

func (f *Store) spoilClaim(c driver.Claim) driver.Claim {
	for i := range c.Tasks {
		f.spoil(&c.Tasks[i].Run, &c.Tasks[i].Task)
	}
	return c
}

func (f *Store) spoilPage(p journal.RunPage) journal.RunPage {
	for i := range p.Runs {
		f.spoil(&p.Runs[i], p.Runs[i].Task)
	}
	return p
}

func (f *Store) spoilHistories(list []driver.History) []driver.History {
	for i := range list {
		f.spoil(&list[i].Run, list[i].Run.Task)
	}
	return list
}
