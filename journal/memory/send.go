package memory

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Send implements driver.Store. It takes part in no transaction.
func (s *Store) Send(ctx context.Context, tx journal.Tx, messages []journal.Message) ([]journal.Sent, error) {
	return oneByOne(ctx, s, tx, messages, s.db.send)
}

// send puts a message into an inbox, or finds the one that came before it under the same key. A
// known key is looked for before the run's state: a message that arrived while the run was open
// stays a duplicate when it has closed, so a repeated call gets the answer of its first try (J4).
func (db *database) send(m *journal.Message, now time.Time) journal.Sent {
	r := db.runs[m.Run]
	if r == nil {
		return journal.Sent{Err: journal.ErrNotFound}
	}
	var sent journal.Sent
	if r.open {
		sent.Owner, sent.Route = r.task.Owner, r.route()
	}
	if number, known := r.known[m.Key]; known { // J5: for the life of the run, also after its end
		sent.Number, sent.Duplicate = number, true
		return sent
	}
	if !r.open {
		return journal.Sent{Err: journal.ErrClosed}
	}
	// J5: the number is taken and the message stored in one call, so numbers have no gaps and
	// become visible in their order.
	db.dequeue(r)
	defer db.enqueue(r, now)
	r.task.InboxLast++
	sent.Number = r.task.InboxLast
	// The caller's message is copied and stays as it is: it may be sent again (J4).
	stored := *m
	stored.Number, stored.Time, stored.Payload = sent.Number, now, clonePayload(m.Payload)
	if !m.Kind.Answers() {
		stored.Cmd, stored.Generation = 0, 0 // they were the sender's
	}
	r.inbox = append(r.inbox, stored)
	r.known[m.Key] = sent.Number
	// J6. A blocked or quarantined task does not become visible by a message.
	if r.task.State == journal.Ready && (r.task.VisibleAt.IsZero() || r.task.VisibleAt.After(now)) {
		r.task.VisibleAt = now
	}
	return sent
}
