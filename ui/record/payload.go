package record

import (
	"encoding/json"

	"github.com/reprise-run/reprise/journal"
)

// Payload is a value that was stored.
type Payload struct {
	Value    json.RawMessage `json:"value,omitempty" doc:"the value; absent if the codec of this program does not decode it to JSON"`
	Failure  *Failure        `json:"failure,omitempty" doc:"of a value that is an error"`
	Encoding string          `json:"encoding,omitempty" doc:"name of the encoding, if it is not JSON"`
	Bytes    []byte          `json:"bytes,omitempty" doc:"what is stored, in base64, if it could not be decoded"`
}

// Failure is an error that was stored.
type Failure struct {
	Type      string     `json:"type,omitempty" doc:"Go type of the error, or reprise.Timeout and the like"`
	Message   string     `json:"message" doc:"text of the error"`
	Permanent bool       `json:"permanent,omitempty" doc:"whether it is not tried again"`
	Step      string     `json:"step,omitempty" doc:"of a run that passes on the failure of a step, also of a child's: name of the step"`
	Name      string     `json:"name,omitempty" doc:"name under which the program has registered the error's type"`
	Stack     string     `json:"stack,omitempty" doc:"of a panic"`
	Cause     *Failure   `json:"cause,omitempty" doc:"what it wraps"`
	Details   []*Failure `json:"details,omitempty" doc:"failed compensations"`
}

// What a payload is of.
const (
	FromInput     = "input"     // of a run
	FromOutcome   = "outcome"   // of a run: its output or failure
	FromStep      = "step"      // output or failure
	FromChild     = "child"     // output or failure
	FromSignal    = "signal"    // what was sent
	FromUpdate    = "update"    // its argument
	FromOther     = "other"     // a request to cancel, a signal that was refused, and what later releases store
	FromPublished = "published" // by the run
	FromAnswer    = "answer"    // to an update or a query
)

// Source says what a payload is of.
type Source struct {
	Run  journal.RunID
	Kind string // one of the constants From…
	Name string // of the step, child, signal, update, query or published value; else empty
}

// Maker makes records with payloads, which its codec decodes.
type Maker struct {
	Codec journal.Codec
	// Show decides what is shown of each payload: it returns the payload, another one, or nil for
	// nothing. It sees failures too, also those that are part of a run's record. Nil shows
	// everything.
	Show func(from Source, p *Payload) *Payload
}

// Payload returns the record of a payload, nil for one without bytes. What the codec does not
// decode to JSON is shown as it is stored.
func (m *Maker) Payload(from Source, p journal.Payload) *Payload {
	if len(p.Data) == 0 {
		return nil
	}
	return m.show(from, m.decode(p))
}

func (m *Maker) decode(p journal.Payload) *Payload {
	rec := &Payload{Encoding: p.Encoding}
	if p.Encoding == journal.EncodingFailure {
		if f, err := journal.DecodeFailure(p); err == nil {
			rec.Failure = failureOf(f)
			return rec
		}
	}
	var value json.RawMessage
	if err := m.Codec.Decode(p, &value); err == nil && json.Valid(value) {
		rec.Value = value
		return rec
	}
	rec.Bytes = p.Data
	return rec
}

func (m *Maker) show(from Source, p *Payload) *Payload {
	if m.Show == nil || p == nil {
		return p
	}
	return m.Show(from, p)
}

// Value returns what is shown of an answer, null for nothing.
func (m *Maker) Value(from Source, value json.RawMessage) json.RawMessage {
	if len(value) > 0 {
		if p := m.show(from, &Payload{Value: value}); p != nil && p.Value != nil {
			return p.Value
		}
	}
	return json.RawMessage("null")
}

// failure returns what is shown of a failure.
func (m *Maker) failure(from Source, f *journal.Failure) *Failure {
	if f == nil {
		return nil
	}
	if p := m.show(from, &Payload{Failure: failureOf(f), Encoding: journal.EncodingFailure}); p != nil {
		return p.Failure
	}
	return nil
}

// failureOf returns the record of a failure.
func failureOf(f *journal.Failure) *Failure {
	if f == nil {
		return nil
	}
	rec := &Failure{Type: f.Type, Message: f.Message, Permanent: f.Permanent, Step: f.Step, Name: f.As, Stack: f.Stack, Cause: failureOf(f.Cause)}
	for _, d := range f.Details {
		rec.Details = append(rec.Details, failureOf(d))
	}
	return rec
}

// Summary is a failure in a line, empty for none.
func (f *Failure) Summary() string {
	if f == nil {
		return ""
	}
	return (&journal.Failure{Type: f.Type, Message: f.Message}).Summary()
}
