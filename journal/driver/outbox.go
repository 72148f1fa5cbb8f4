package driver

import (
	"errors"
	"fmt"
	"sync"

	"github.com/reprise-run/reprise/journal"
)

// Outbox keeps what the body of a step starts and sends through its transaction, until the commit
// of the step writes it.
//
// It is not written at once, because that would lock the task of the receiver, or the key, until
// the transaction ends, and the body may take as long as it likes until then. The receiver's own
// turns would wait for the body. If the receiver is the step's own run, they would wait for ever:
// the run commits its turns one after the other, and the turn that ends the transaction would stand
// behind the one that waits for it. Two runs whose bodies write to each other would do the same,
// and the database sees no cycle, since half of it is in this process. So a body holds no lock of
// the journal's while it runs; the commit takes them all in one order, as for every turn.
//
// An answer to the body is therefore of the moment of the call: a run that is closed or unknown
// then is an error, and so is a key of another workflow's. What changes until the commit is treated
// like a change after it. A message to a run that has closed meanwhile is dropped, since the run
// has ended without receiving it. A key that another run has taken meanwhile fails the commit with
// [journal.ErrTxLost]: the body was told that its run has the key, and its next attempt is told the
// truth.
//
// What the body has undone, by a savepoint of the transaction, is taken back with Undo.
type Outbox struct {
	mu       sync.Mutex
	starts   []journal.Start
	messages []journal.Message
	bytes    int
	ended    bool // nothing can be added any more
}

// OutboxTx is a transaction of a step, or a part of one, whose starts and messages wait for the
// commit.
type OutboxTx interface {
	journal.Tx
	Outbox() *Outbox
}

// OutboxMark is how much an Outbox holds at a moment.
type OutboxMark struct{ starts, messages, bytes int }

// What an Outbox keeps: it is in memory, and is written with the turn.
const (
	outboxMax      = 1_000
	outboxBytesMax = 64 << 20
)

var errOutboxEnded = errors.New("the transaction of the step has ended; start and send before the body returns")

// howToSendMore is for bodies that reach a limit.
const howToSendMore = "start and send the others in further steps, or in the workflow"

// outboxOf returns where starts and messages in a transaction wait, nil if they are written at
// once.
func outboxOf(tx journal.Tx) *Outbox {
	if t, ok := tx.(OutboxTx); ok {
		return t.Outbox()
	}
	return nil
}

// Mark returns how much the outbox holds.
func (o *Outbox) Mark() OutboxMark {
	o.mu.Lock()
	defer o.mu.Unlock()
	return OutboxMark{len(o.starts), len(o.messages), o.bytes}
}

// Undo takes back what was added after a mark.
func (o *Outbox) Undo(to OutboxMark) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ended {
		o.starts, o.messages, o.bytes = o.starts[:to.starts], o.messages[:to.messages], to.bytes
	}
}

// End refuses whatever a goroutine of the body adds later.
func (o *Outbox) End() { o.take() }

// take returns what waits, once.
func (o *Outbox) take() (starts []journal.Start, messages []journal.Message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	starts, messages = o.starts, o.messages
	o.starts, o.messages, o.ended = nil, nil, true
	return starts, messages
}

// room refuses what the outbox cannot hold beside the rest. mu is held.
func (o *Outbox) room(size int) error {
	switch n := len(o.starts) + len(o.messages) + 1; {
	case o.ended:
		return errOutboxEnded
	case n > outboxMax:
		return &journal.LimitError{What: "starts and messages in the transaction of a step", Size: n, Max: outboxMax, How: howToSendMore}
	case o.bytes+size > outboxBytesMax:
		return &journal.LimitError{What: "bytes of starts and messages in the transaction of a step", Size: o.bytes + size, Max: outboxBytesMax,
			How: howToSendMore}
	}
	o.bytes += size
	return nil
}

// send keeps a message.
func (o *Outbox) send(m journal.Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.room(MessageBytes(&m)); err != nil {
		return err
	}
	m.Cmd = 0 // nobody waits for an answer
	o.messages = append(o.messages, m)
	return nil
}

// starting returns the run that was started in this transaction under an id, or under a key.
func (o *Outbox) starting(run journal.RunID, key string) (journal.Start, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.starts {
		if o.starts[i].ID == run || key != "" && o.starts[i].Key == key {
			return o.starts[i], true
		}
	}
	return journal.Start{}, false
}

// start keeps a start.
func (o *Outbox) start(s journal.Start) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.room(StartBytes(&s)); err != nil {
		return err
	}
	o.starts = append(o.starts, s)
	return nil
}

// takeOutbox adds to a commit what waits in its transaction. A commit that is submitted again has
// it already. It was prepared when the body asked for it, and has the keys of then.
func (c *Commit) takeOutbox() {
	if o := outboxOf(c.Tx); o != nil {
		starts, messages := o.take()
		c.Starts, c.Messages = append(c.Starts, starts...), append(c.Messages, messages...)
		c.prepared.starts, c.prepared.messages = c.prepared.starts+len(starts), c.prepared.messages+len(messages)
	}
}

// LostKey tells why a commit with a Tx must not be written after all, nil if it may: the key of a
// run that the step's body has started belongs to another run by now, or a limit of that run is
// full. out are the answers to c.Starts.
func (c *Commit) LostKey(out []journal.Started) error {
	for i := range out {
		s := &c.Starts[i]
		if full, ok := errors.AsType[*journal.LimitFullError](out[i].Err); ok && s.Parent == nil {
			return fmt.Errorf("%w: a run that the body has started is refused: %w", journal.ErrTxLost, full)
		}
		if s.Parent == nil && out[i].Run != s.ID {
			return fmt.Errorf("%w: run %s has taken key %q since the body started a run with it", journal.ErrTxLost, out[i].Run, s.Key)
		}
	}
	return nil
}
