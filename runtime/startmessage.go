package runtime

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// startMessage is a message that is sent with a start. A nil one is that of a start without.
type startMessage struct {
	journal.Message
	value any // the caller's
}

// keyed gives the message a key, so that it arrives once.
func (m *startMessage) keyed() *startMessage {
	keyed(&m.Message)
	return m
}

func (m *startMessage) message() *journal.Message {
	if m == nil {
		return nil
	}
	return &m.Message
}

// call is the message as interceptors see it.
func (m *startMessage) call() *Call {
	switch {
	case m == nil:
		return nil
	case m.Kind == journal.MessageUpdate:
		return &Call{Kind: UpdateCall, Name: m.Name, Payload: m.value}
	}
	return &Call{Kind: SignalCall, Name: m.Name, Payload: m.value}
}

// check refuses options with which no message can be sent.
func (m *startMessage) check(workflow string, o *StartOptions) error {
	switch {
	case m == nil:
		return nil
	case o.Key == "":
		return fmt.Errorf("%s %s with start of %s: %w: a key is required", m.Kind, m.Name, workflow, journal.ErrInvalid)
	case o.Tx != nil && m.Kind == journal.MessageUpdate:
		return fmt.Errorf("update %s: %w: no transaction is allowed: its answer would have to wait for the commit",
			m.Name, journal.ErrInvalid)
	}
	return nil
}
