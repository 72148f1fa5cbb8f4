package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Failure is an error in the form that histories keep: it survives replay and process borders.
type Failure struct {
	Type      string        `json:"type"` // Go type of the error, or one of the Failure… constants; see Plain
	Message   string        `json:"message"`
	Permanent bool          `json:"permanent,omitempty"`
	RetryIn   time.Duration `json:"retryIn,omitempty"`
	Stack     string        `json:"stack,omitempty"` // of a panic
	Cause     *Failure      `json:"cause,omitempty"`
	Details   []*Failure    `json:"details,omitempty"` // failed compensations, beside the cause
	Step      string        `json:"step,omitempty"`    // of a run that passes on the failure of a step: its name

	// What of the error programs have registered: see workflow.RegisterError.
	Is   []string        `json:"is,omitempty"`   // names of the values that it matched
	As   string          `json:"as,omitempty"`   // name of its type
	Data json.RawMessage `json:"data,omitempty"` // the error of that type; JSON like the rest, whatever the codec
}

// plainTypes are those of errors that are nothing but a text, and of what wraps others with a text.
var plainTypes = func() map[string]bool {
	err := errors.New("")
	types := map[string]bool{"": true}
	for _, e := range []error{err, fmt.Errorf(""), fmt.Errorf("%w", err), fmt.Errorf("%w%w", err, err), errors.Join(err)} {
		types[fmt.Sprintf("%T", e)] = true
	}
	return types
}()

// Plain tells whether the type says nothing that the message does not: the error was a text.
func (f *Failure) Plain() bool { return plainTypes[f.Type] }

// Summary is the failure for people: its type, if that says something, and its message.
func (f *Failure) Summary() string {
	if f.Plain() {
		return f.Message
	}
	return f.Type + ": " + f.Message
}

// FailurePrefix begins the types of failures that the engine itself makes.
const FailurePrefix = "reprise."

// Types of failures that the engine itself makes.
const (
	FailureCancelled = "reprise.Cancelled"    // the run or the scope was cancelled
	FailureTimeout   = "reprise.Timeout"      // an attempt, a step or a run ran out of time
	FailureHeartbeat = "reprise.Heartbeat"    // a step stopped heartbeating
	FailurePanic     = "reprise.Panic"        // step code panicked or ended its goroutine
	FailureEncode    = "reprise.Encode"       // an output could not be encoded or was too large
	FailureTerminate = "reprise.Terminated"   // an operator terminated the run
	FailureUndo      = "reprise.Compensation" // a saga's compensation failed for good
	FailureKeyExists = "reprise.KeyExists"    // a child's key belongs to another run
	FailureLimitFull = "reprise.LimitFull"    // a child was refused: as many wait for its limit as may
	FailureNotFound  = "reprise.NotFound"     // a signal's run does not exist
	FailureClosed    = "reprise.Closed"       // a signal's run is closed
	FailureRejected  = "reprise.Rejected"     // an update was refused before it changed anything
	FailureAborted   = "reprise.Aborted"      // an update was accepted, and its run continued as new before it was answered
)

const (
	failureMessageBytesMax = 8 << 10  // an error's text is for people
	failureStackBytesMax   = 16 << 10 // the frames that matter come first
	failureDepthMax        = 16       // causes and details below each other
)

// EncodeFailure returns the payload that holds f. Over-long texts are cut and invalid UTF-8 is
// replaced: a failure can always be stored.
func EncodeFailure(f *Failure) Payload {
	data, err := json.Marshal(f.trimmed(failureDepthMax))
	if err != nil {
		panic(fmt.Sprintf("journal: a failure holds only text, yet: %v", err))
	}
	return Payload{Encoding: EncodingFailure, Data: data}
}

// DecodeFailure reads what EncodeFailure wrote.
func DecodeFailure(p Payload) (*Failure, error) {
	if p.Encoding != EncodingFailure {
		return nil, fmt.Errorf("payload has encoding %q, not %q: %w", p.Encoding, EncodingFailure, ErrInvalid)
	}
	f := new(Failure)
	if err := json.Unmarshal(p.Data, f); err != nil {
		return nil, fmt.Errorf("decode failure: %w", err)
	}
	return f, nil
}

func (f *Failure) trimmed(depth int) *Failure {
	if f == nil || depth == 0 {
		return nil
	}
	c := *f
	c.Type = cut(c.Type, NameBytesMax)
	c.Step = cut(c.Step, NameBytesMax)
	c.Message = cut(c.Message, failureMessageBytesMax)
	c.Stack = cut(c.Stack, failureStackBytesMax)
	c.Cause = c.Cause.trimmed(depth - 1)
	if len(f.Details) > 0 {
		c.Details = make([]*Failure, 0, len(f.Details))
		for _, d := range f.Details {
			if t := d.trimmed(depth - 1); t != nil {
				c.Details = append(c.Details, t)
			}
		}
	}
	return &c
}

func cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	return s[:max] + "…" // json.Marshal replaces a rune that was cut in half
}
