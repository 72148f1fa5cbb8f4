package memory

import (
	"errors"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// deliverAgain sends the messages of a commit under other keys.
func (m *Store) deliverAgain(c driver.Commit) {
	for _, msg := range c.Messages {
		msg.Key += " again"
		m.db.deliver(msg, m.db.now())
	}
}

// PlantedEffects are bugs in what commits do to others, and in what a generation begins with.
var PlantedEffects = map[string]Planted{
	"J2 a refused commit sends its messages": {written: func(m *Store, c driver.Commit, o *driver.Outcome) {
		if errors.Is(o.Err, journal.ErrFenced) {
			m.deliverAgain(c)
		}
	}},
	"J2 children do not start": {commit: func(_ *Store, c *driver.Commit) { c.Starts = nil }},
	"J2 children forget who waits": {written: func(m *Store, c driver.Commit, _ *driver.Outcome) {
		for i := range c.Starts {
			if r := m.open(c.Starts[i].ID); r != nil {
				r.run.Parent.Generation++
			}
		}
	}},
	"J2 policies are not applied": {commit: func(_ *Store, c *driver.Commit) { c.Children = false }},
	"J2 policies do not recur": {commit: func(m *Store, c *driver.Commit) {
		for id := range m.db.children[c.Run] {
			delete(m.db.children, id)
		}
	}},
	"J2 a terminated run does not apply policies": {admin: func(m *Store, a driver.AdminAction, r *record) {
		for _, child := range m.db.sorted {
			if a.Kind == driver.AdminTerminate && child.open && child.run.Parent != nil && child.run.Parent.Run == a.Run && len(child.inbox) > 0 {
				m.reshape(child, func() { child.inbox, child.task.InboxLast = child.inbox[:len(child.inbox)-1], child.task.InboxLast-1 })
			}
		}
	}},
	"J2 a terminated run does not tell its parent": {admin: func(m *Store, a driver.AdminAction, r *record) {
		if r.run.Parent == nil || a.Kind != driver.AdminTerminate {
			return
		}
		if p := m.open(r.run.Parent.Run); p != nil {
			m.reshape(p, func() { p.inbox, p.task.InboxLast = p.inbox[:len(p.inbox)-1], p.task.InboxLast-1 })
		}
	}},
	"J4 a repeated commit sends again": {commit: func(m *Store, c *driver.Commit) {
		if c.WrittenAs(m.db.found(c)) {
			m.deliverAgain(*c)
		}
	}},
	"J5 a rejected update keeps its key": {written: func(m *Store, c driver.Commit, _ *driver.Outcome) {
		for _, rep := range c.Replies {
			if r := m.open(c.Run); r != nil && rep.Rejected {
				r.known[r.inbox[rep.Number-1].Key] = rep.Number
			}
		}
	}},
	"J5 a generation loses what was carried": {commit: func(_ *Store, c *driver.Commit) {
		if c.Continue != nil {
			next := *c.Continue
			next.Carried = nil
			c.Continue = &next
		}
	}},
	"J5 a generation begins the inbox again": {written: func(m *Store, c driver.Commit, _ *driver.Outcome) {
		if r := m.open(c.Run); r != nil && c.Continue != nil {
			r.front = inboxFront{}
		}
	}},
	"J5 keys are forgotten by a generation": {written: func(m *Store, c driver.Commit, _ *driver.Outcome) {
		if r := m.open(c.Run); r != nil && c.Continue != nil {
			clear(r.known)
		}
	}},
	"J6 an answer does not wake": {written: func(m *Store, c driver.Commit, o *driver.Outcome) {
		if r := m.open(c.Run); r != nil && c.Next.Kind == driver.NextPark && len(o.Sent) > 0 {
			m.reshape(r, func() { r.task.VisibleAt = time.Time{} })
		}
	}},
	"J8 a message is lost if the run is there": {start: func(m *Store, st *journal.Start) {
		if m.db.keys[st.Key] != nil {
			st.Message = nil
		}
	}},
	"J9 a message cuts the delay short": {start: func(_ *Store, st *journal.Start) {
		if st.Message != nil {
			st.Delay = 0
		}
	}},
	"an answer is another's":              {load: func(r *driver.LoadRequest) { r.Answer *= 2 }},
	"answers are lost":                    {commit: func(_ *Store, c *driver.Commit) { c.Replies = withoutAnswers(c.Replies) }},
	"a generation keeps its version":      {commit: func(m *Store, c *driver.Commit) { m.keepVersion(c) }},
	"a listing knows no parents":          {list: func(f *journal.ListFilter) { f.Parent = journal.RunID{} }},
	"a listing knows no changes":          {list: func(f *journal.ListFilter) { f.Unchanged = "" }},
	"a signal names its sender's command": {written: func(m *Store, c driver.Commit, _ *driver.Outcome) { m.keepCommands(c) }},
}

func withoutAnswers(list []journal.Reply) []journal.Reply {
	return slices.DeleteFunc(slices.Clone(list), func(r journal.Reply) bool { return !r.Rejected })
}

func (m *Store) keepVersion(c *driver.Commit) {
	if r := m.open(c.Run); r != nil && c.Continue != nil {
		next := *c.Continue
		next.Version = r.run.Version
		c.Continue = &next
	}
}

func (m *Store) keepCommands(c driver.Commit) {
	for _, msg := range c.Messages {
		if r := m.open(msg.Run); r != nil && msg.Cmd > 0 && len(r.inbox) > 0 {
			r.inbox[len(r.inbox)-1].Cmd = msg.Cmd
		}
	}
}

// PlantedRepeats are bugs that a caller meets who repeats a call.
var PlantedRepeats = map[string]Planted{
	"a repeated start is doubled": {start: func(m *Store, st *journal.Start) {
		if m.db.runs[st.ID] != nil {
			st.ID, st.Key = journal.NewRunID(), ""
		}
	}},
	"a repeated message is doubled": {sent: func(m *Store, msg journal.Message, _ *journal.Sent) {
		if r := m.open(msg.Run); r != nil {
			delete(r.known, msg.Key)
		}
	}},
}
