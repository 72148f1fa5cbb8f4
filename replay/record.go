package replay

import (
	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/journal"
)

// Record returns a value that read makes from outside of the run. It is kept in the history and
// taken from there on replay. read runs in read-only mode. An error of read stops the machine.
func (e *Env) Record(name string, read func() (journal.Payload, error)) journal.Payload {
	return e.record(name, func() (journal.Payload, bool, error) {
		p, err := read()
		return p, true, err
	})
}

// RecordIf is Record for a value that is kept only if it differs from the newest one of that name:
// read is given that one, nil the first time, and tells whether its own is another.
func (e *Env) RecordIf(name string, read func(last *journal.Payload) (journal.Payload, bool, error)) journal.Payload {
	p := e.record(name, func() (journal.Payload, bool, error) {
		if last, ok := e.records[name]; ok {
			return read(&last)
		}
		p, _, err := read(nil)
		return p, true, err
	})
	if e.records == nil {
		e.records = make(map[string]journal.Payload)
	}
	e.records[name] = p
	return p
}

// unchanged is the detail of a record that found the value of the one before. "=" alone is not
// valid base64, so it cannot be an encoded value.
const unchanged = "="

func (e *Env) record(name string, read func() (journal.Payload, bool, error)) journal.Payload {
	if _, err := e.current(); err != nil {
		callsite.Refuse(err)
	}
	got := journal.Issued{Kind: journal.CommandRecord, Name: name}
	if e.replaying {
		if w := e.expected(); w != nil && w.Kind == journal.CommandRecord && w.Name == name {
			got = *w
		}
		return e.keep(got)
	}
	if e.foresight.ahead {
		e.undecided("side effect " + name)
	}
	var p journal.Payload
	var fresh bool
	var err error
	refused := e.ReadOnly(func() { p, fresh, err = read() })
	if err = orRefused(err, refused); err != nil {
		e.Abort(err)
	}
	if got.Detail = unchanged; fresh {
		got = journal.Recorded(name, p)
	}
	return e.keep(got)
}

// keep issues a record and returns its value. The value is decoded from the entry also when it is
// new, so that the code sees the same bytes as on replay.
func (e *Env) keep(got journal.Issued) journal.Payload {
	e.issueUnanswered(got)
	e.length.bytes += len(got.Detail)
	if got.Detail == unchanged {
		last, ok := e.records[got.Name]
		if !ok {
			e.diverge(shown(&got), "no record "+got.Name+" before it")
		}
		return last
	}
	p, err := got.Value()
	if err != nil {
		e.Abort(&DecodeError{What: "recorded value " + got.Name, Err: err})
	}
	return p
}
