package journal

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Journal is what everyone but a back end uses: it checks input, encodes values, keeps the store's
// clock and spreads hints inside the process. Its methods may be called from many goroutines.
type Journal struct {
	store Store
	o     Options
	clock Clock
	local hub
}

// New returns a Journal on a store, which stays the caller's to close. o may be nil.
func New(s Store, o *Options) *Journal {
	return &Journal{store: s, o: o.withDefaults(), local: newHub()}
}

// Now estimates the store's clock (J9).
func (j *Journal) Now() time.Time { return j.clock.Now() }

// Codec returns the codec of payloads.
func (j *Journal) Codec() Codec { return j.o.Codec }

// Encode turns a value into a payload within the limit. what names the value in errors.
func (j *Journal) Encode(what string, v any) (Payload, error) {
	p, err := j.o.Codec.Encode(v)
	if err != nil {
		return Payload{}, fmt.Errorf("%s: %w", what, err)
	}
	return p, j.CheckPayload(what, p)
}

// CheckPayload refuses a payload that cannot be stored, after the codec.
func (j *Journal) CheckPayload(what string, p Payload) error {
	if len(p.Data) > j.o.PayloadBytesMax {
		return &LimitError{What: what + " in bytes", Size: len(p.Data), Max: j.o.PayloadBytesMax}
	}
	if p.Encoding == EncodingJSON {
		return nil
	}
	return checkText(what+" encoding", p.Encoding, LabelKeyBytesMax)
}

// Start creates runs. Zero fields get their defaults: Version 1, Queue "default", PriorityDefault, a fresh ID.
// Invalid members get their error and do not hinder the others.
func (j *Journal) Start(ctx context.Context, tx Tx, starts []Start) ([]Started, error) {
	began := time.Now()
	out := make([]Started, len(starts))
	valid, index := make([]Start, 0, len(starts)), make([]int, 0, len(starts))
	for i, s := range starts {
		if err := j.checkStart(&s); err != nil {
			out[i] = Started{Run: s.ID, Err: err}
			continue
		}
		valid, index = append(valid, s), append(index, i)
	}
	err := inBatches(len(valid), func(from, to int) error {
		got, err := j.store.Start(ctx, tx, valid[from:to])
		for k := range got {
			out[index[from+k]] = got[k]
		}
		if len(got) > 0 {
			j.clock.Observe(got[len(got)-1].Now) // one stamp is as good as all of them
		}
		return err
	})
	refused := 0
	for i := range out {
		if out[i].Err != nil {
			refused++
		}
	}
	j.o.Observer.call("start", len(starts), refused, began, err)
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	if tx == nil {
		j.hintStarted(valid, index, out)
	}
	return out, nil
}

func (j *Journal) checkStart(s *Start) error {
	if err := CheckStart(s); err != nil {
		return err
	}
	if m := s.Message; m != nil {
		along := *m
		along.Run = s.ID
		if err := j.checkMessage(&along); err != nil {
			return err
		}
		s.Message = &along
	}
	return j.CheckPayload("input", s.Input)
}

// CheckStart fills the defaults of a start and refuses what no store takes. It does not look at payloads.
func CheckStart(s *Start) error {
	if s.ID.IsZero() {
		s.ID = NewRunID()
	}
	if s.Version == 0 {
		s.Version = 1
	}
	if s.Queue == "" {
		s.Queue = DefaultQueue
	}
	if s.Priority == 0 {
		s.Priority = PriorityDefault
	}
	if err := CheckName("workflow", s.Workflow); err != nil {
		return err
	}
	if err := CheckName("queue", s.Queue); err != nil {
		return err
	}
	if err := CheckKey("key", s.Key); err != nil {
		return err
	}
	if err := checkLabels(s.Labels); err != nil {
		return err
	}
	if err := checkText("trace", s.Trace, TraceBytesMax); err != nil {
		return err
	}
	if s.Version < 1 {
		return fmt.Errorf("version %d of workflow %q: %w: versions start at 1", s.Version, s.Workflow, ErrInvalid)
	}
	if s.Priority < PriorityMin || s.Priority > PriorityMax {
		return fmt.Errorf("priority %d: %w: it must be between %d and %d", s.Priority, ErrInvalid, PriorityMin, PriorityMax)
	}
	if s.Reuse < ReuseReject || s.Reuse > ReuseAllowIfFailed {
		return fmt.Errorf("reuse policy %d: %w", s.Reuse, ErrInvalid)
	}
	if s.Delay < 0 || s.Delay > DelayMax {
		return fmt.Errorf("delay %s: %w: it must be between 0 and %s", s.Delay, ErrInvalid, DelayMax)
	}
	return nil
}

// Send puts messages into inboxes. A message without a key gets a fresh one, which makes the call
// repeatable (J4). Keys of signals and keys of updates are apart.
func (j *Journal) Send(ctx context.Context, tx Tx, messages []Message) ([]Sent, error) {
	began := time.Now()
	out := make([]Sent, len(messages))
	valid, index := make([]Message, 0, len(messages)), make([]int, 0, len(messages))
	for i, m := range messages {
		if err := j.checkMessage(&m); err != nil {
			out[i] = Sent{Err: err}
			continue
		}
		valid, index = append(valid, m), append(index, i)
	}
	err := inBatches(len(valid), func(from, to int) error {
		got, err := j.store.Send(ctx, tx, valid[from:to])
		for k := range got {
			out[index[from+k]] = got[k]
		}
		return err
	})
	refused := 0
	for i := range out {
		if out[i].Err != nil {
			refused++
		}
	}
	j.o.Observer.call("send", len(messages), refused, began, err)
	if err != nil {
		return nil, fmt.Errorf("send: %w", err)
	}
	if tx == nil {
		j.hintSent(valid, index, out)
	}
	return out, nil
}

func (j *Journal) checkMessage(m *Message) error {
	if m.Run.IsZero() {
		return fmt.Errorf("message without a run: %w", ErrInvalid)
	}
	switch m.Kind {
	case MessageSignal, MessageUpdate:
		if err := CheckName(m.Kind.String(), m.Name); err != nil {
			return err
		}
		if err := CheckKey("message key", m.Key); err != nil {
			return err
		}
		switch {
		case m.Key == "":
			m.Key = "~" + uuid.NewString()
		case m.Kind == MessageUpdate: // else a signal's key would take the answer away
			m.Key = updateKeys + m.Key
		}
	case MessageCancel:
		m.Key = CancelKey
	default:
		return fmt.Errorf("message kind %d: %w", m.Kind, ErrInvalid)
	}
	return j.CheckPayload("message", m.Payload)
}

// Claim takes due tasks.
func (j *Journal) Claim(ctx context.Context, r ClaimRequest) (Claim, error) {
	began := time.Now()
	c, err := j.store.Claim(ctx, r)
	j.o.Observer.call("claim", len(c.Tasks), 0, began, err)
	if err != nil {
		return Claim{}, fmt.Errorf("claim: %w", err)
	}
	j.clock.Observe(c.Now)
	return c, nil
}

// Commit writes turns. The whole batch may be submitted again after an error (J4), except a member with a Tx,
// whose outcome the store resolves itself.
func (j *Journal) Commit(ctx context.Context, commits []Commit) ([]Outcome, error) {
	began := time.Now()
	for i := range commits {
		if err := j.checkCommit(&commits[i]); err != nil {
			return nil, err
		}
	}
	out, err := j.store.Commit(ctx, commits)
	refused := 0
	for i := range out {
		if out[i].Err != nil {
			refused++
		}
	}
	if len(out) > 0 {
		j.clock.Observe(out[len(out)-1].Now) // one stamp is as good as all of them
	}
	j.o.Observer.call("commit", len(commits), refused, began, err)
	if err != nil {
		return nil, fmt.Errorf("commit: %w", err)
	}
	j.hintCommitted(commits, out)
	return out, nil
}

func (j *Journal) checkCommit(c *Commit) error {
	if err := c.check(); err != nil {
		return err
	}
	for i := range c.Events {
		if c.Events[i].Payload.Encoding == EncodingFailure {
			continue // bounded by EncodeFailure, so that a failure can be stored whatever the option says
		}
		if err := j.CheckPayload(c.Events[i].Kind.String(), c.Events[i].Payload); err != nil {
			return err
		}
	}
	if len(c.Attempts) > AttemptsMax {
		return &LimitError{What: "steps in retry", Size: len(c.Attempts), Max: AttemptsMax}
	}
	if !c.HasEffects() {
		return nil
	}
	return j.checkEffects(c)
}

// checkEffects fills the defaults of children and refuses what cannot be stored.
func (j *Journal) checkEffects(c *Commit) error {
	for i := range c.Starts {
		if err := j.checkStart(&c.Starts[i]); err != nil {
			return fmt.Errorf("child %s: %w", c.Starts[i].Workflow, err)
		}
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Kind.Answers() || m.Key != "" && m.Kind == MessageSignal || strings.HasPrefix(m.Key, updateKeys) {
			if m.Run.IsZero() {
				return fmt.Errorf("commit %s: message without a run: %w", c.Run, ErrInvalid)
			}
			continue // the engine's own key and payload
		}
		if err := j.checkMessage(m); err != nil {
			return fmt.Errorf("commit %s: %w", c.Run, err)
		}
	}
	for _, r := range c.Replies {
		if r.Payload.Encoding == EncodingFailure {
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

// Load returns histories.
func (j *Journal) Load(ctx context.Context, requests []LoadRequest) ([]History, error) {
	began := time.Now()
	out := make([]History, 0, len(requests))
	err := inBatches(len(requests), func(from, to int) error {
		got, err := j.store.Load(ctx, requests[from:to])
		out = append(out, got...)
		return err
	})
	j.o.Observer.call("load", len(requests), 0, began, err)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	return out, nil
}

// List returns runs, newest first.
func (j *Journal) List(ctx context.Context, f ListFilter) (RunPage, error) {
	began := time.Now()
	if f.Limit < 0 || f.Limit > ListMax {
		return RunPage{}, &LimitError{What: "list limit", Size: f.Limit, Max: ListMax}
	}
	if f.Limit == 0 {
		f.Limit = ListDefault
	}
	if len(f.IDs) > BatchMax {
		return RunPage{}, &LimitError{What: "ids in a list filter", Size: len(f.IDs), Max: BatchMax}
	}
	page, err := j.store.List(ctx, f)
	j.o.Observer.call("list", len(page.Runs), 0, began, err)
	if err != nil {
		return RunPage{}, fmt.Errorf("list: %w", err)
	}
	j.clock.Observe(page.Now)
	return page, nil
}

// Admin applies an operator's action.
func (j *Journal) Admin(ctx context.Context, a AdminAction) error {
	began := time.Now()
	if err := checkText("reason", a.Reason, failureMessageBytesMax); err != nil {
		return err
	}
	err := j.store.Admin(ctx, a)
	j.o.Observer.call("admin", 1, 0, began, err)
	if err != nil {
		return fmt.Errorf("admin action on run %s: %w", a.Run, err)
	}
	j.hintAdmin(a)
	return nil
}

// Begin opens a transaction for a step.
func (j *Journal) Begin(ctx context.Context) (Tx, error) {
	ts, ok := j.store.(TxStore)
	if !ok {
		return nil, fmt.Errorf("begin: %T has no transactions for steps: %w", j.store, ErrInvalid)
	}
	return ts.Begin(ctx)
}

// Join makes a node. While it is a member, hints that it can serve stay inside the process.
func (j *Journal) Join(ctx context.Context, n Node) (Membership, error) {
	if err := CheckName("node name", n.Name); err != nil {
		return nil, err
	}
	m, err := j.store.Join(ctx, n)
	if err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	j.local.join(m.ID(), n.Routes)
	return &member{Membership: m, j: j}, nil
}

// Nodes lists the live nodes.
func (j *Journal) Nodes(ctx context.Context) ([]Node, error) { return j.store.Nodes(ctx) }

// inBatches calls fn for pieces of at most BatchMax out of n.
func inBatches(n int, fn func(from, to int) error) error {
	for from := 0; from < n; from += BatchMax {
		if err := fn(from, min(from+BatchMax, n)); err != nil {
			return err
		}
	}
	return nil
}
