package postgres

import (
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// The states of a reply to an update, as rows of the inbox keep them. Null is no reply.
const (
	answerAccepted = 1
	answerRejected = 2
)

// replySQL keeps replies with their updates.
//
// It runs after the statement that wrote the turn, in the same transaction and thus under the lock
// of the run's task, so a reply exists exactly if its turn does (J2). Only a message without a
// reply is written: the reply of a repeated commit changes nothing. An update that is rejected
// gives its key up (J5), so that the client may send it again; the key that it gets instead holds
// its number and a character that keys of users cannot begin with, so nobody else has it or asks
// for it.
const replySQL = `
UPDATE reprise.inbox m
SET answered = i.answered, answer = i.answer, answer_encoding = i.encoding,
    key = CASE WHEN i.answered = 2 THEN '~rejected/' || m.number ELSE m.key END
FROM unnest($1::uuid[], $2::bigint[], $3::smallint[], $4::bytea[], $5::text[]) AS i(run_id, number, answered, answer, encoding)
WHERE m.run_id = ANY (ARRAY[i.run_id]) AND m.number = ANY (ARRAY[i.number]) AND m.answered IS NULL`

// replies are the parameters of replySQL, a column each.
type replies struct {
	ids       []pgtype.UUID
	numbers   []int64
	answered  []int16
	answers   [][]byte
	encodings []*string
}

func (l *replies) add(run journal.RunID, list []journal.Reply) {
	for i := range list {
		r, answered := &list[i], int16(answerAccepted)
		if r.Rejected {
			answered = answerRejected
		}
		l.ids, l.numbers, l.answered = append(l.ids, uuidArg(run)), append(l.numbers, int64(r.Number)), append(l.answered, answered)
		l.answers, l.encodings = append(l.answers, nullBytes(r.Payload.Data)), append(l.encodings, nullText(r.Payload.Encoding))
	}
}

// queue adds replySQL, several times if there is too much for one statement.
func (l *replies) queue(p *pipeline, sql string) {
	_ = inChunks(len(l.ids), func(i int) int { return len(l.answers[i]) }, func(from, to int) error {
		p.exec(sql, l.ids[from:to], l.numbers[from:to], l.answered[from:to], l.answers[from:to], l.encodings[from:to])
		return nil
	})
}

// loadAnswersSQL reads what the sender of an update waits for: the reply, or what tells why there
// is none, which is the terminal event or the state of the task. The rest of the run, its input
// above all, is not for the sender, who asks at every poll.
//
// It belongs to the transaction of a load and sees that snapshot, so a run is never reported as
// closed without the reply that was stored before it closed. The inbox is read by its primary key;
// see "Plans" for the order that forces it.
const loadAnswersSQL = `
SELECT i.ord, ` + terminalColumns + `,
       coalesce(m.answered, 0), coalesce(m.answer_encoding, ''), m.answer, r.status, t.state, t.problem
FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS i(id, number, ord)
CROSS JOIN LATERAL (SELECT r.generation, r.closed_seq, r.status FROM reprise.runs r WHERE r.id = ANY (ARRAY[i.id])) r
LEFT JOIN LATERAL (
    SELECT * FROM reprise.events e WHERE e.run_id = i.id AND e.generation = r.generation AND e.seq = r.closed_seq) e ON true
LEFT JOIN LATERAL (
    SELECT m.answered, m.answer_encoding, m.answer FROM reprise.inbox m
    WHERE m.run_id = i.id AND m.number BETWEEN i.number AND i.number ORDER BY m.number LIMIT 1) m ON true
LEFT JOIN LATERAL (SELECT t.state, t.problem FROM reprise.tasks t WHERE t.run_id = ANY (ARRAY[i.id])) t ON true`

// queueAnswers adds loadAnswersSQL if a request asks for an answer.
func queueAnswers(p *pipeline, sql string, requests []driver.LoadRequest, out []driver.History) {
	var index []int
	var ids []pgtype.UUID
	var numbers []int64
	for i, r := range requests {
		if r.Answer != 0 {
			index, ids, numbers = append(index, i), append(ids, uuidArg(r.Run)), append(numbers, int64(r.Answer))
		}
	}
	if len(index) == 0 {
		return
	}
	p.query(sql, each(func(row pgx.CollectableRow) error {
		var ord int64
		var e terminalRow
		var answered int16
		var answer journal.Answer
		var status int16
		var state *int16
		var problem *string
		targets := append([]any{&ord}, e.targets()...)
		err := row.Scan(append(targets, &answered, &answer.Payload.Encoding, &answer.Payload.Data, &status, &state, &problem)...)
		if err != nil {
			return err
		}
		h, run := &out[index[ord-1]], requests[index[ord-1]].Run
		h.Run, h.Err = journal.Run{ID: run, Status: journal.Status(status)}, nil
		if state != nil {
			h.Run.Task = &journal.Task{Run: run, State: journal.TaskState(*state), Problem: textOf(problem)}
		}
		e.addTo(&h.Run)
		if answered != 0 {
			answer.Rejected = answered == answerRejected
			h.Answer = &answer
		}
		return nil
	}), ids, numbers)
}
