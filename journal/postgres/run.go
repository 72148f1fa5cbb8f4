package postgres

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// runColumns are the columns of a run r as every statement selects them, for runRow. The order is
// the protocol between the two: a column that is added goes to the end of runSmall, or, if it has
// no small limit, to the end of all and into claims, which may leave the last ones out.
const (
	runColumns = runSmall + `,
       r.input, r.published, r.headers`
	runSmall = `r.id, r.created_at, r.start_at, r.closed_at, r.generation, r.version, r.priority, r.status, r.workflow, r.queue, r.key,
       r.labels::text, r.input_encoding, r.trace,
       r.parent_run, r.parent_generation, r.parent_cmd, r.parent_policy, r.inbox_seen, r.carried,
       r.timeout, r.on_failure, r.start_labels::text, r.rewound, r.freezes, r.limits`
)

// runRow reads runColumns. Pointers and pgtype values are columns that may be null; bytes that were
// read belong to the row's user, since the driver copies them.
type runRow struct {
	id                           pgtype.UUID
	createdAt, startAt, closedAt pgtype.Timestamptz
	generation, version          int32
	priority, status             int16
	workflow, queue              string
	key, labels, encoding, trace *string
	input                        []byte
	parent                       pgtype.UUID
	parentGeneration, parentCmd  *int32
	parentPolicy                 *int16
	seen                         *int64
	carried                      pgtype.FlatArray[pgtype.Int8]
	published                    *string
	headers, onFailure           *string
	startLabels, rewound, limits *string
	timeout                      *int64
	freezes                      pgtype.FlatArray[pgtype.Timestamptz]
}

func (r *runRow) targets() []any {
	return []any{&r.id, &r.createdAt, &r.startAt, &r.closedAt, &r.generation, &r.version, &r.priority, &r.status, &r.workflow,
		&r.queue, &r.key, &r.labels, &r.encoding, &r.trace, &r.parent, &r.parentGeneration, &r.parentCmd, &r.parentPolicy,
		&r.seen, &r.carried, &r.timeout, &r.onFailure, &r.startLabels, &r.rewound, &r.freezes, &r.limits, &r.input, &r.published, &r.headers}
}

// run returns the run. A run that starts at once has no time of its own for that: the column is
// null, to save bytes of every row, and the time of its creation stands in. Only a run beyond its
// first generation has a beginning of its inbox.
//
// No column keeps the row from being read: the columns are of types that take whatever the server
// may hold, and what makes no sense is noted in the run.
func (r *runRow) run() journal.Run {
	run := journal.Run{
		ID: r.id.Bytes, Key: textOf(r.key), Workflow: r.workflow, Version: r.version, Queue: r.queue, Priority: r.priority,
		Status: journal.Status(r.status), Input: journal.Payload{Encoding: textOf(r.encoding), Data: r.input},
		Trace: textOf(r.trace), Generation: journal.Generation(r.generation), CreatedAt: timeOf(r.createdAt),
		StartAt: timeOf(r.startAt), ClosedAt: timeOf(r.closedAt), OnFailure: textOf(r.onFailure),
	}
	var err error
	run.Timeout, err = driver.DecodeTimeout(intOf[int64](r.timeout))
	driver.NoteUnreadable(&run, "timeout", err)
	run.Labels, err = driver.DecodeLabels(textOf(r.labels))
	driver.NoteUnreadable(&run, "labels", err)
	run.StartLabels, err = driver.DecodeLabels(textOf(r.startLabels))
	driver.NoteUnreadable(&run, "start_labels", err)
	run.Headers, err = driver.DecodeHeaders(textOf(r.headers))
	driver.NoteUnreadable(&run, "headers", err)
	driver.NoteUnreadable(&run, "created_at", finite(r.createdAt))
	run.Published, err = driver.DecodePublished(textOf(r.published))
	driver.NoteUnreadable(&run, "published", err)
	run.Rewound, err = driver.DecodeRewound(textOf(r.rewound))
	driver.NoteUnreadable(&run, "rewound", err)
	run.Limits, err = driver.DecodeRunLimits(textOf(r.limits))
	driver.NoteUnreadable(&run, "limits", err)
	run.Freezes, err = freezesOf(r.freezes)
	driver.NoteUnreadable(&run, "freezes", err)
	if run.StartAt.IsZero() {
		run.StartAt = run.CreatedAt
	}
	if r.parent.Valid {
		run.Parent = parentOf(r.parent, r.parentGeneration, r.parentCmd, r.parentPolicy)
	}
	if run.Generation > 1 {
		run.Continued = &journal.Continue{Seen: intOf[journal.InboxSeq](r.seen)}
		for _, n := range r.carried {
			if !n.Valid {
				driver.NoteUnreadable(&run, "carried", fmt.Errorf("%w: a message without a number", driver.ErrMalformed))
			}
			run.Continued.Carried = append(run.Continued.Carried, journal.InboxSeq(n.Int64))
		}
	}
	return run
}

// freezesOf reads the times at which freezes of a run have begun and ended, by turns.
func freezesOf(column pgtype.FlatArray[pgtype.Timestamptz]) (journal.Freezes, error) {
	if len(column) == 0 {
		return nil, nil
	}
	times := make([]time.Time, len(column))
	for i, at := range column {
		if !at.Valid {
			return nil, fmt.Errorf("%w: a freeze without a time", driver.ErrMalformed)
		}
		if err := finite(at); err != nil {
			return nil, err
		}
		times[i] = timeOf(at)
	}
	return journal.FreezesOf(times), nil
}
