package sqlite

import (
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// forkRunSQL copies the row of a run, for a fork that rewind then lets begin: open, with its key.
const forkRunSQL = `
INSERT INTO reprise_runs (id, created_at, generation, version, priority, holds_key, workflow, queue, key, labels, input, input_encoding,
                          trace, inbox_seen, carried, published, headers, timeout, on_failure, start_labels, limits)
SELECT ?1, ?2, r.generation, ?3, r.priority, 0, r.workflow, ?4, ?5, r.labels, r.input, r.input_encoding,
       r.trace, r.inbox_seen, r.carried, r.published, r.headers, r.timeout, r.on_failure, r.start_labels, r.limits
FROM reprise_runs r WHERE r.id = ?6`

// forkInboxSQL copies an inbox, with the numbers that events name.
const forkInboxSQL = `
INSERT INTO reprise_inbox (run_id, number, at, digest, kind, name, key, encoding, payload, cmd, generation, answered, answer, answer_encoding)
SELECT ?, m.number, m.at, m.digest, m.kind, m.name, m.key, m.encoding, m.payload, m.cmd, m.generation, m.answered, m.answer, m.answer_encoding
FROM reprise_inbox m WHERE m.run_id = ?`

// What differs between the copied events of a fork and those of the run.
const (
	forkResultSQL = `UPDATE reprise_events SET kind = ?, encoding = ?, payload = ? WHERE run_id = ? AND generation = ? AND seq = ?`
	forkLinkSQL   = `UPDATE reprise_events SET link = ? WHERE run_id = ? AND generation = ? AND seq = ?`
)

// fork begins another run at a point of a run's history (J13): as a copy that goes back. It returns
// what the audit says of it; nothing if an earlier try has made it (J4). All that can refuse it is
// looked at before the first change.
func (t *target) fork(e *effects, a *driver.AdminAction) (detail string, err error) {
	f, w := a.Fork, a.Rewind
	if made, err := find(e.q, f.Run); err != nil || made.exists {
		return "", err
	}
	in, last, err := t.inboxBehind(e.q, w, f)
	if err != nil {
		return "", err
	}
	fork, of, next := uuidArg(f.Run), uuidArg(a.Run), int64(w.Generation)+1
	x := execs{q: e.q}
	x.exec(forkRunSQL, fork, e.at.UnixMicro(), int64(f.Version), f.Queue, nullText(f.Key), of)
	x.exec(forkInboxSQL, fork, of)
	if x.err == nil && len(t.run.Freezes) > 0 {
		x.err = refreeze(e.q, f.Run, t.forked(e.at))
	}
	if x.err != nil {
		return "", x.err
	}
	copied := target{run: journal.Run{ID: f.Run, Workflow: t.run.Workflow}}
	if _, err := copied.beginAgain(e, w, a.Run, &in, last); err != nil {
		return "", err
	}
	for _, r := range f.Results {
		x.exec(forkResultSQL, int64(journal.StepCompleted), nullText(r.Output.Encoding), nullBytes(r.Output.Data), fork, next, int64(r.Seq))
	}
	for i, link := range f.Links {
		x.exec(forkLinkSQL, int64(link), fork, next, int64(f.Results[0].Seq)+int64(i))
	}
	if x.err != nil {
		return "", x.err
	}
	detail, ofFork := f.Details(a)
	return detail, note(e.q, f.Noted(a), t.run.Workflow, ofFork, e.at)
}

// forked returns the freezes of a fork: its timers go on if those of the run stand still.
func (t *target) forked(at time.Time) journal.Freezes {
	if !t.open {
		at = t.run.ClosedAt
	}
	return driver.EndFreeze(t.run.Freezes, at)
}
