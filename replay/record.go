package replay

import (
	"github.com/reprise-run/reprise/journal"
)

// Record returns a value that take makes from outside of the run. It is kept in the history and taken from there on
// replay. take must not call verbs. An error of take stops the machine.
func (m *Machine) Record(name string, take func() (journal.Payload, error)) journal.Payload {
	return m.record(name, func() (journal.Payload, bool, error) {
		p, err := take()
		return p, true, err
	})
}

// RecordIf is Record for a value that is kept only if it differs from the newest one of that name: take is given that one,
// nil the first time, and tells.
func (m *Machine) RecordIf(name string, take func(last *journal.Payload) (journal.Payload, bool, error)) journal.Payload {
	p := m.record(name, func() (journal.Payload, bool, error) {
		if last, ok := m.records[name]; ok {
			return take(&last)
		}
		p, _, err := take(nil)
		return p, true, err
	})
	if m.records == nil {
		m.records = make(map[string]journal.Payload)
	}
	m.records[name] = p
	return p
}

// unchanged is the detail of a record that found the value of the one before. It is no base64.
const unchanged = "="

func (m *Machine) record(name string, take func() (journal.Payload, bool, error)) journal.Payload {
	if _, err := m.enter(); err != nil {
		panic(err)
	}
	m.onlySteps = false
	got := journal.Issued{Kind: journal.CommandRecord, Name: name}
	if m.replaying {
		if w := m.expected(); w != nil && w.Kind == journal.CommandRecord && w.Name == name {
			got = *w
		}
		return m.keep(got)
	}
	var p journal.Payload
	var fresh bool
	var err error
	m.ReadOnly(func() { p, fresh, err = take() })
	if err != nil {
		m.Abort(err)
	}
	if got.Detail = unchanged; fresh {
		got = journal.Recorded(name, p)
	}
	return m.keep(got)
}

// keep issues a record and returns its value.
func (m *Machine) keep(got journal.Issued) journal.Payload {
	m.issue(got)
	m.open.add(nil)
	m.bytes += len(got.Detail)
	return m.recorded(got)
}

func (m *Machine) recorded(i journal.Issued) journal.Payload {
	if i.Detail == unchanged {
		last, ok := m.records[i.Name]
		if !ok {
			m.diverge(shown(&i), "no record "+i.Name+" before it")
		}
		return last
	}
	p, err := i.Value()
	if err != nil {
		m.Abort(&DecodeError{What: "recorded value " + i.Name, Err: err})
	}
	return p
}

// Changes remembers the answers of Changed. The zero value is ready for use, by one machine.
type Changes struct{ taken map[string]bool }

// Changes are those of the whole run.
func (m *Machine) Changes() *Changes { return &m.changes }

// Changed tells whether the code shall take the new branch of a change: always, but where the history was made by code
// that did not ask. The first answer is kept in c.
func (m *Machine) Changed(c *Changes, id string) bool {
	if _, err := m.enter(); err != nil {
		panic(err)
	}
	m.spend()
	if answer, known := c.taken[id]; known {
		return answer
	}
	answer := false
	if m.replaying {
		answer = m.passed(id)
	} else {
		answer = m.mark(id)
	}
	c.remember(id, answer)
	return answer
}

// remember keeps the first answer.
func (c *Changes) remember(id string, answer bool) {
	if _, known := c.taken[id]; known {
		return
	}
	if c.taken == nil {
		c.taken = make(map[string]bool)
	}
	c.taken[id] = answer
}

// mark records the new branch of a change.
func (m *Machine) mark(id string) bool {
	m.issue(journal.Issued{Kind: journal.CommandChange, Name: id})
	m.open.add(nil)
	m.onlySteps = false
	return true
}

// passed tells whether the history has the change here, perhaps behind others that the code no longer asks about.
func (m *Machine) passed(id string) bool {
	for i := m.matched; i < len(m.event.Issued); i++ {
		w := &m.event.Issued[i]
		if w.Kind != journal.CommandChange {
			return false
		}
		if w.Name == id {
			for m.matched < i {
				m.passOver(&m.event.Issued[m.matched])
			}
			m.matched++
			m.open.add(nil)
			m.onlySteps = false
			return true
		}
	}
	return false
}
