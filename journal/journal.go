package journal

import (
	"context"
	"fmt"
	"time"
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

// Start creates runs. Zero fields get their defaults, see [Start.SetDefaults]. Invalid members get their error and do not
// hinder the others.
func (j *Journal) Start(ctx context.Context, tx Tx, starts []Start) ([]Started, error) {
	b, err := startBatch.submit(ctx, j, tx, starts)
	if err != nil {
		return nil, err
	}
	if tx == nil {
		j.hintStarted(b.valid, b.index, b.answers)
	}
	return b.answers, nil
}

// Send puts messages into inboxes. A message without a key gets a fresh one, which makes the call
// repeatable (J4). Keys of signals and keys of updates are apart.
func (j *Journal) Send(ctx context.Context, tx Tx, messages []Message) ([]Sent, error) {
	b, err := sendBatch.submit(ctx, j, tx, messages)
	if err != nil {
		return nil, err
	}
	if tx == nil {
		j.hintSent(b.valid, b.index, b.answers)
	}
	return b.answers, nil
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
		if err := j.prepareCommit(&commits[i]); err != nil {
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
