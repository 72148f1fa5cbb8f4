package pgtest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/migrations"
)

// checkTimeout is how long a check of a large database takes on a slow machine, and more.
const checkTimeout = 2 * time.Minute

// violationsMax is how many violations of one rule are worth reading: a bug breaks a rule for many
// rows in the same way.
const violationsMax = 10

// Check fails the test for everything in a database that breaks a guarantee of package journal. It
// looks at one snapshot, so it may run while the database is in use.
func Check(t testing.TB, dsn, schema string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Errorf("pgtest: check: %v", err)
		return
	}
	defer conn.Close(context.WithoutCancel(ctx))
	check(ctx, t, conn, schema)
}

// check is Check for callers that have a connection. It reports an error of its own as a failure
// too: a check that could not look proves nothing.
func check(ctx context.Context, t testing.TB, conn *pgx.Conn, schema string) {
	t.Helper()
	list, err := violations(ctx, conn, schema)
	if err != nil {
		t.Errorf("pgtest: check: %v", err)
	}
	for _, v := range list {
		t.Errorf("pgtest: the database breaks a guarantee: %s", v)
	}
}

// violations reads with SQL of its own, so that a bug in the store's statements cannot hide itself.
// The rules travel in one batch: a check follows nearly every test, and forty round trips would be
// most of its time.
func violations(ctx context.Context, conn *pgx.Conn, schema string) ([]string, error) {
	if err := migrations.CheckSchema(schema); err != nil {
		return nil, err
	}
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()

	var all []string
	var batch pgx.Batch
	batch.Queue("SET LOCAL jit = off") // tables that nobody has analysed would look worth compiling for
	for _, r := range rules {
		batch.Queue(migrations.Render(r.sql, schema)).Query(func(rows pgx.Rows) error {
			found, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			all = append(all, shorten(r.name, found)...)
			return nil
		})
	}
	if err := tx.SendBatch(ctx, &batch).Close(); err != nil {
		return all, err
	}
	found, err := commandViolations(ctx, tx, schema)
	return append(all, shorten("commands and outcomes", found)...), err
}

// shorten names the rule with each violation, and leaves out most of many: one bug breaks a rule
// for every run of the test.
func shorten(rule string, found []string) []string {
	var list []string
	for i, v := range found {
		if i == violationsMax {
			return append(list, fmt.Sprintf("%s: and %d more", rule, len(found)-i))
		}
		list = append(list, rule+": "+v)
	}
	return list
}

// commandEventsSQL reads all histories in order. It is read by Go and not checked by SQL, because
// what was issued is a text with a codec of its own.
const commandEventsSQL = `
SELECT run_id, generation, seq, kind, coalesce(cmd, 0), coalesce(name, ''), coalesce(issued, '')
FROM reprise.events ORDER BY run_id, generation, seq`

// attemptsSQL reads the steps in retry of all open runs.
const attemptsSQL = `SELECT run_id, generation, attempts FROM reprise.tasks WHERE attempts <> ''`

// thread is what a run of one generation has asked for and what was answered. Commands are numbered
// in the order in which they were issued, from 1, so the number is an index.
type thread struct {
	issued   []journal.Issued
	answered map[journal.Cmd]bool
}

// threadID names a generation of a run.
type threadID struct {
	run [16]byte
	gen int32
}

// commandViolations checks that each command has at most one outcome, of its own kind and name and
// behind the event that issued it, and that the attempts of a task belong to steps that are not
// done.
func commandViolations(ctx context.Context, tx pgx.Tx, schema string) (found []string, err error) {
	threads := map[threadID]*thread{}
	rows, _ := tx.Query(ctx, migrations.Render(commandEventsSQL, schema)) // ForEachRow reports the error
	var (
		id     threadID
		seq    int32
		kind   journal.Kind
		cmd    journal.Cmd
		name   string
		issued string
	)
	_, err = pgx.ForEachRow(rows, []any{&id.run, &id.gen, &seq, &kind, &cmd, &name, &issued}, func() error {
		th := threads[id]
		if th == nil {
			th = &thread{answered: map[journal.Cmd]bool{}}
			threads[id] = th
		}
		if why := th.add(kind, cmd, name, issued); why != "" {
			found = append(found, fmt.Sprintf("run %s generation %d seq %d: %s", journal.RunID(id.run), id.gen, seq, why))
		}
		return nil
	})
	if err != nil {
		return found, err
	}
	rows, _ = tx.Query(ctx, migrations.Render(attemptsSQL, schema))
	var attempts []byte
	_, err = pgx.ForEachRow(rows, []any{&id.run, &id.gen, &attempts}, func() error {
		for _, why := range threads[id].attempts(attempts) {
			found = append(found, fmt.Sprintf("run %s generation %d: %s", journal.RunID(id.run), id.gen, why))
		}
		return nil
	})
	return found, err
}

// answers tells which kind of command an event answers. A kind that is missing here must not name a
// command.
var answers = map[journal.Kind]journal.CommandKind{
	journal.StepCompleted:  journal.CommandStep,
	journal.StepFailed:     journal.CommandStep,
	journal.TimerFired:     journal.CommandTimer,
	journal.ChildCompleted: journal.CommandChild,
	journal.ChildFailed:    journal.CommandChild,
	journal.SignalSent:     journal.CommandSend,
	journal.SignalRefused:  journal.CommandSend,
}

// add adds an event and tells what is wrong with it.
func (th *thread) add(kind journal.Kind, cmd journal.Cmd, name, issued string) string {
	why := th.answer(kind, cmd, name)
	list, err := journal.DecodeIssued(issued)
	if err != nil {
		return err.Error()
	}
	for _, c := range list {
		th.issued = append(th.issued, c)
		if c.Kind == journal.CommandCancel && (c.Target < 1 || int(c.Target) >= len(th.issued)) {
			return fmt.Sprintf("command %d cancels command %d", len(th.issued), c.Target)
		}
	}
	return why
}

// answer checks the command that an event names: an answer names a command of its kind and name
// that was issued before, and each command has one answer at most.
func (th *thread) answer(kind journal.Kind, cmd journal.Cmd, name string) string {
	want, isAnswer := answers[kind]
	if isAnswer != (cmd != 0) {
		return fmt.Sprintf("%s with command %d", kind, cmd)
	}
	if !isAnswer {
		return ""
	}
	if cmd < 1 || int(cmd) > len(th.issued) {
		return fmt.Sprintf("%s of command %d, but only %d were issued", kind, cmd, len(th.issued))
	}
	if c := th.issued[cmd-1]; c.Kind != want || c.Name != name {
		return fmt.Sprintf("%s %q of command %d, which is %q", kind, name, cmd, c)
	}
	if th.answered[cmd] {
		return fmt.Sprintf("a second outcome of command %d", cmd)
	}
	th.answered[cmd] = true
	return ""
}

// attempts checks the stored attempts of a task: each belongs to a step that was issued and has no
// outcome yet. A run without events has no thread and no steps.
func (th *thread) attempts(stored []byte) (found []string) {
	var list []journal.Attempt
	if err := json.Unmarshal(stored, &list); err != nil {
		return []string{fmt.Sprintf("attempts %q: %v", stored, err)}
	}
	for _, a := range list {
		switch {
		case th == nil || a.Cmd < 1 || int(a.Cmd) > len(th.issued):
			found = append(found, fmt.Sprintf("an attempt of command %d, which was never issued", a.Cmd))
		case th.issued[a.Cmd-1].Kind != journal.CommandStep || th.issued[a.Cmd-1].Name != a.Name:
			found = append(found, fmt.Sprintf("an attempt of step %q, but command %d is %q", a.Name, a.Cmd, th.issued[a.Cmd-1]))
		case th.answered[a.Cmd]:
			found = append(found, fmt.Sprintf("an attempt of command %d, which has its outcome", a.Cmd))
		}
	}
	return found
}
