package sqlite

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// runColumns are the columns of a run r as every statement selects them, for runOf. The order is
// the protocol between the two: a column that is added goes to the end of runSmall, or, if it has
// no small limit, to the end of all and into claims, which may leave the last ones out.
const (
	runColumns = runSmall + `,
       r.input, r.published, r.headers`
	runSmall = `r.id, r.created_at, r.start_at, r.closed_at, r.generation, r.version, r.priority, r.status, r.workflow, r.queue, r.key,
       r.labels, r.input_encoding, r.trace,
       r.parent_run, r.parent_generation, r.parent_cmd, r.parent_policy, r.inbox_seen, r.carried,
       r.timeout, r.on_failure, r.start_labels, r.rewound, r.freezes, r.limits`
)

// runWidth is the number of runColumns.
const runWidth = 29

// runOf reads runColumns.
func runOf(r row) journal.Run {
	labels, err := driver.DecodeLabels(r.text(11))
	run := journal.Run{
		ID: r.id(0), CreatedAt: r.time(1), StartAt: r.time(2), ClosedAt: r.time(3), Generation: journal.Generation(r.int32(4)),
		Version: r.int32(5), Priority: r.int16(6), Status: journal.Status(r.int16(7)), Workflow: r.text(8),
		Queue: r.text(9), Key: r.text(10), Labels: labels, Input: r.payload(12, 26), Trace: r.text(13),
	}
	driver.NoteUnreadable(&run, "labels", err)
	if run.StartAt.IsZero() {
		run.StartAt = run.CreatedAt
	}
	run.Parent = parentOf(r[14:])
	run.Published, err = driver.DecodePublished(r.text(27))
	driver.NoteUnreadable(&run, "published", err)
	run.Headers, err = driver.DecodeHeaders(r.text(28))
	driver.NoteUnreadable(&run, "headers", err)
	run.OnFailure = r.text(21)
	run.Timeout, err = driver.DecodeTimeout(r.int(20))
	driver.NoteUnreadable(&run, "timeout", err)
	run.StartLabels, err = driver.DecodeLabels(r.text(22))
	driver.NoteUnreadable(&run, "start_labels", err)
	run.Rewound, err = driver.DecodeRewound(r.text(23))
	driver.NoteUnreadable(&run, "rewound", err)
	run.Freezes, err = decodeFreezes(r.text(24))
	driver.NoteUnreadable(&run, "freezes", err)
	run.Limits, err = driver.DecodeRunLimits(r.text(25))
	driver.NoteUnreadable(&run, "limits", err)
	if !r.null(18) {
		carried, err := decodeCarried(r.text(19))
		driver.NoteUnreadable(&run, "carried", err)
		run.Continued = &journal.Continue{Seen: journal.InboxSeq(r.int(18)), Carried: carried}
	}
	return run
}
