package sqlite

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// runColumns are the columns of a run r as every statement selects them, for runOf. The order is
// the protocol between the two: a column that is added goes to the end of both.
const runColumns = `r.id, r.created_at, r.start_at, r.closed_at, r.generation, r.version, r.priority, r.status, r.workflow, r.queue, r.key,
       r.labels, r.input, r.input_encoding, r.trace,
       r.parent_run, r.parent_generation, r.parent_cmd, r.parent_policy, r.inbox_seen, r.carried, r.published,
       r.headers, r.timeout, r.on_failure, r.start_labels, r.rewound, r.freezes, r.limits`

// runOf reads runColumns.
func runOf(r row) journal.Run {
	labels, err := driver.DecodeLabels(r.text(11))
	run := journal.Run{
		ID: r.id(0), CreatedAt: r.time(1), StartAt: r.time(2), ClosedAt: r.time(3), Generation: journal.Generation(r.int(4)),
		Version: int32(r.int(5)), Priority: int16(r.int(6)), Status: journal.Status(r.int(7)), Workflow: r.text(8),
		Queue: r.text(9), Key: r.text(10), Labels: labels, Input: r.payload(13, 12), Trace: r.text(14),
	}
	driver.NoteUnreadable(&run, "labels", err)
	if run.StartAt.IsZero() {
		run.StartAt = run.CreatedAt
	}
	run.Parent = parentOf(r[15:])
	run.Published, err = driver.DecodePublished(r.text(21))
	driver.NoteUnreadable(&run, "published", err)
	run.Headers, err = driver.DecodeHeaders(r.text(22))
	driver.NoteUnreadable(&run, "headers", err)
	run.OnFailure = r.text(24)
	run.Timeout, err = driver.DecodeTimeout(r.int(23))
	driver.NoteUnreadable(&run, "timeout", err)
	run.StartLabels, err = driver.DecodeLabels(r.text(25))
	driver.NoteUnreadable(&run, "start_labels", err)
	run.Rewound, err = driver.DecodeRewound(r.text(26))
	driver.NoteUnreadable(&run, "rewound", err)
	run.Freezes, err = decodeFreezes(r.text(27))
	driver.NoteUnreadable(&run, "freezes", err)
	run.Limits, err = driver.DecodeRunLimits(r.text(28))
	driver.NoteUnreadable(&run, "limits", err)
	if !r.null(19) {
		carried, err := decodeCarried(r.text(20))
		driver.NoteUnreadable(&run, "carried", err)
		run.Continued = &journal.Continue{Seen: journal.InboxSeq(r.int(19)), Carried: carried}
	}
	return run
}
