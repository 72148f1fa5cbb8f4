package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
)

// startMessageDelaySQL lets messages wait with the runs that they were sent with: a message makes a
// run visible, but these were started to begin later. It applies to a run that this very
// transaction has made (fence 0, one message); a message that comes later wakes the run as always.
// The tasks are locked, as the transaction made them.
const startMessageDelaySQL = `
UPDATE reprise.tasks t SET visible_at = r.start_at
FROM unnest($1::uuid[]) AS i(id)
CROSS JOIN LATERAL (SELECT r.start_at FROM reprise.runs r WHERE r.id = ANY (ARRAY[i.id])) r
WHERE t.run_id = ANY (ARRAY[i.id]) AND t.state = 0 AND t.fence = 0 AND t.inbox_last = 1 AND r.start_at > now()`

// sendStartMessages sends the messages of starts to the runs that have their keys now, inside the
// starts' transaction: so a run and its first message are there together, and of many callers that
// start one key at once each has its message in the one run (J8).
func (s *Store) sendStartMessages(ctx context.Context, q querier, starts []journal.Start, out []journal.Started) error {
	var index []int
	var messages []journal.Message
	var delayed []pgtype.UUID
	for i := range starts {
		if starts[i].Message == nil || out[i].Err != nil {
			continue
		}
		m := *starts[i].Message
		m.Run = out[i].Run
		index, messages = append(index, i), append(messages, m)
		if starts[i].Delay > 0 && out[i].Created {
			delayed = append(delayed, uuidArg(m.Run))
		}
	}
	if len(index) == 0 {
		return nil
	}
	sent := make([]journal.Sent, len(messages))
	ids := make([]pgtype.UUID, len(messages))
	for k := range messages {
		ids[k] = uuidArg(messages[k].Run)
	}
	var p pipeline
	p.exec(s.sql.lockTasks, ids)
	s.queueSend(&p, messages, sent)
	if len(delayed) > 0 {
		p.exec(s.sql.startMessageDelay, delayed)
	}
	if err := p.send(ctx, q); err != nil {
		return err
	}
	for k, i := range index {
		out[i].Sent = sent[k]
	}
	return nil
}
