package driver

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/reprise-run/reprise/journal"
)

// A prepare function does two things to what a caller hands over, and a store relies on both: it
// fills what the caller left out, and it refuses what cannot be stored.

// updateKeys stands before the keys of updates, so that they are apart from those of signals.
const updateKeys = "~update/"

func (j *Journal) prepareStart(s *journal.Start) error {
	s.SetDefaults()
	if err := journal.CheckStart(s); err != nil {
		return err
	}
	if s.Message != nil {
		m := *s.Message // the caller's stays as it is
		m.Run = s.ID
		if err := j.prepareMessage(&m); err != nil {
			return err
		}
		s.Message = &m
	}
	return j.CheckPayload("input", s.Input)
}

// prepareMessage also puts the keys of updates apart from those of signals.
func (j *Journal) prepareMessage(m *journal.Message) error {
	if m.Run.IsZero() {
		return fmt.Errorf("message without a run: %w", journal.ErrInvalid)
	}
	switch m.Kind {
	case journal.MessageSignal, journal.MessageUpdate:
		if err := journal.CheckName(m.Kind.String(), m.Name); err != nil {
			return err
		}
		if err := journal.CheckKey("message key", m.Key); err != nil {
			return err
		}
		switch {
		case m.Key == "":
			m.Key = "~" + uuid.NewString()
		case m.Kind == journal.MessageUpdate: // else a signal's key would take the answer away
			m.Key = updateKeys + m.Key
		}
	case journal.MessageCancel:
		if !strings.HasPrefix(m.Key, ownCancelKey) {
			m.Key = journal.CancelKey
		}
	default:
		return fmt.Errorf("message kind %d: %w", m.Kind, journal.ErrInvalid)
	}
	return j.CheckPayload("message", m.Payload)
}

func (j *Journal) prepareCommit(c *Commit) error {
	if err := c.check(); err != nil {
		return err
	}
	c.takeOutbox()
	for i := range c.Events {
		if c.Events[i].Payload.Encoding == journal.EncodingFailure {
			continue // bounded by EncodeFailure, so that a failure can be stored whatever the option says
		}
		if err := j.CheckPayload(c.Events[i].Kind.String(), c.Events[i].Payload); err != nil {
			return err
		}
	}
	if len(c.Attempts) > journal.AttemptsMax {
		return &journal.LimitError{What: "steps in retry", Size: len(c.Attempts), Max: journal.AttemptsMax}
	}
	if c.HasEffects() {
		if err := j.prepareEffects(c); err != nil {
			return err
		}
	}
	if n := turnBytes(c); n > journal.CommitBytesMax {
		return &journal.LimitError{What: fmt.Sprintf("bytes of a turn of run %s, with the heartbeats of its steps in retry", c.Run),
			Size: n, Max: journal.CommitBytesMax}
	}
	return nil
}

// prepareEffects prepares what a commit does to others. It changes the commit's own starts and
// messages, so that a commit which is submitted again (J4) has the ids and keys of the first time.
// What a body has started and sent is prepared: its keys are reserved ones by now, which would be
// refused.
func (j *Journal) prepareEffects(c *Commit) error {
	for i := range c.Starts[:len(c.Starts)-c.prepared.starts] {
		if err := j.prepareStart(&c.Starts[i]); err != nil {
			return fmt.Errorf("child %s: %w", c.Starts[i].Workflow, err)
		}
	}
	for i := range c.Messages[:len(c.Messages)-c.prepared.messages] {
		m := &c.Messages[i]
		if m.Kind.Answers() || m.Key != "" && m.Kind == journal.MessageSignal || strings.HasPrefix(m.Key, updateKeys) {
			if m.Run.IsZero() {
				return fmt.Errorf("commit %s: message without a run: %w", c.Run, journal.ErrInvalid)
			}
			continue // the engine's own key and payload
		}
		if err := j.prepareMessage(m); err != nil {
			return fmt.Errorf("commit %s: %w", c.Run, err)
		}
	}
	for _, r := range c.Replies {
		if r.Payload.Encoding == journal.EncodingFailure {
			continue
		}
		if err := j.CheckPayload("reply", r.Payload); err != nil {
			return err
		}
	}
	if c.Continue != nil {
		return j.CheckPayload("input", c.Continue.Input)
	}
	return nil
}
