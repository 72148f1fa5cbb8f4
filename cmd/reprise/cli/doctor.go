package cli

import (
	"errors"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/ui/record"
)

var findingColumns = []column[findingRecord]{
	{"SEVERITY", func(_ *printer, r *findingRecord) string { return r.Severity }},
	{"CHECK", func(_ *printer, r *findingRecord) string { return r.Check }},
	{"FOUND", func(_ *printer, r *findingRecord) string { return oneLine(r.Text, 120) }},
	{"DO", func(_ *printer, r *findingRecord) string { return oneLine(r.Remedy, 160) }},
}

func doctorVerb(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "doctor", Short: "Look for what is wrong: tables, settings, clocks, runs that nobody goes on with", Args: cobra.NoArgs,
		Long: `Look for what is wrong: tables, settings of the server, clocks, nodes, runs that are
blocked, quarantined or served by no node, also if they are not due, and how long due runs
wait. Nothing is changed. Runs that no node serves are looked for among all open runs, for ten
seconds at most.

The exit code is 0 if nothing is worse than a note, 6 if there are warnings, and 1 if
there is an error.`,
		RunE: a.opensAny(toRead, func(c *call, _ []string) error {
			d := doctor{c: c}
			if err := d.examine(); err != nil {
				return err
			}
			if err := printList(c.out, findingColumns, d.found); err != nil {
				return err
			}
			return d.verdict()
		}),
	}
	return printing(c, "list of finding")
}

// examine makes the checks one after the other. Tables that are not those of this release end it,
// because the others could not be believed.
func (d *doctor) examine() error {
	began := time.Now()
	if err := d.c.a.checkTables(d.c.ctx, d.c.store); err != nil {
		coded := new(codedError)
		if how := remedy(err); how != "" || errors.As(err, &coded) {
			d.say(severityError, "tables", how, "%v", err)
			return nil
		}
		return err
	}
	d.say(severityOK, "store", "", "it answers in %s", time.Since(began).Round(100*time.Microsecond))
	d.say(severityOK, "tables", "", "they are those of this release")
	for _, check := range []func() error{d.settings, d.clock, d.runs, d.queues} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// verdict is the exit code.
func (d *doctor) verdict() error {
	count := map[string]int{}
	for _, f := range d.found {
		count[f.Severity]++
	}
	switch {
	case count[severityError] > 0:
		return failed(ExitFailed, "", "%d errors, %d warnings", count[severityError], count[severityWarning])
	case count[severityWarning] > 0:
		return failed(ExitWarnings, "", "%d warnings", count[severityWarning])
	}
	return nil
}

// statementTimeoutMin is how long the server must let a statement take so that no turn has to be
// repeated, in milliseconds; see "Large runs and slow networks" in docs/operating-postgres.md.
const statementTimeoutMin = 60_000

// settings are those of docs/operating-postgres.md.
func (d *doctor) settings() error {
	s, ok := d.c.store.(*postgres.Store)
	if !ok {
		return nil
	}
	v, err := postgres.Settings(d.c.ctx, s, "fsync", "full_page_writes", "statement_timeout", "synchronous_standby_names",
		"idle_in_transaction_session_timeout")
	if err != nil {
		return err
	}
	before := len(d.found)
	for _, name := range []string{"fsync", "full_page_writes"} {
		if v[name] == "off" {
			d.say(severityError, "settings", "turn it on: a crash of the server may lose what was acknowledged", "%s is off", name)
		}
	}
	if ms, err := strconv.Atoi(v["statement_timeout"]); err == nil && ms > 0 && ms < statementTimeoutMin {
		d.say(severityWarning, "settings", "set none for this role, or a minute: large turns are repeated", "statement_timeout is %d ms", ms)
	}
	if v["idle_in_transaction_session_timeout"] == "0" {
		d.say(severityNote, "settings", "set one: a forgotten transaction keeps dead rows, and the locks that it has", "idle_in_transaction_session_timeout is not set")
	}
	if v["synchronous_standby_names"] == "" {
		d.say(severityNote, "settings", "name one if a fail-over shall lose nothing", "there is no synchronous standby")
	}
	if len(d.found) == before {
		d.say(severityOK, "settings", "", "they are as docs/operating-postgres.md has them")
	}
	return nil
}

// clockSkewMax is what two clocks of one organisation differ by at most, as a rule. The store's
// clock decides (J9), so a difference does no harm to runs, and confuses people who compare logs.
const clockSkewMax = 2 * time.Second

func (d *doctor) clock() error {
	before := time.Now()
	page, err := d.c.client.List(d.c.ctx, journal.ListFilter{Limit: 1})
	if err != nil {
		return err
	}
	d.c.out.now = page.Now
	skew := page.Now.Sub(before.Add(time.Since(before) / 2)).Abs()
	if skew > clockSkewMax {
		d.say(severityWarning, "clock", "let both machines ask a time server", "the store's clock and the one here differ by %s", skew.Round(time.Millisecond))
		return nil
	}
	d.say(severityOK, "clock", "", "it agrees with the one here")
	return nil
}

// runs are those that cannot go on.
func (d *doctor) runs() error {
	for _, c := range []struct {
		state  journal.TaskState
		remedy string
	}{
		{journal.Blocked, "run list --state blocked, then run why RUN: deploy code that fits"},
		{journal.Quarantined, "run list --state quarantined: they ended their processes; find out why, then run resume RUN"},
	} {
		page, err := d.c.client.List(d.c.ctx, journal.ListFilter{State: &c.state, Limit: journal.ListMax})
		if err != nil {
			return err
		}
		n := strconv.Itoa(len(page.Runs))
		if page.Next != "" {
			n = "more than " + n
		}
		if len(page.Runs) > 0 {
			d.say(severityError, c.state.String(), c.remedy, "%s runs are %s", n, c.state)
			continue
		}
		d.say(severityOK, c.state.String(), "", "no run is %s", c.state)
	}
	return nil
}

// A due run waits for milliseconds if there is room.
const (
	waitWarning = time.Minute
	waitError   = 10 * time.Minute
)

// queues look at who serves what waits, and for how long it has.
func (d *doctor) queues() error {
	nodes, err := d.c.store.Nodes(d.c.ctx)
	if err != nil {
		return err
	}
	if len(nodes) == 0 {
		d.say(severityWarning, "nodes", "start a program that runs a node", "no node lives")
	} else {
		d.say(severityOK, "nodes", "", "%d live", len(nodes))
	}
	waits, err := d.c.backlog()
	if errors.Is(err, errNoBacklog) {
		d.say(severityNote, "waiting", "", "%v: who serves it, and for how long it has waited, was not looked at", err)
		return d.retired(nodes, nil)
	}
	if err != nil {
		return err
	}
	var oldest time.Duration
	unserved := map[journal.Route]bool{}
	for _, q := range record.QueuesOf(waits, nodes, nil) {
		switch {
		case q.OldestAt == nil:
		case len(q.Nodes) == 0:
			unserved[journal.Route{Queue: q.Queue, Workflow: q.Workflow, Version: q.Version}] = true
			d.say(severityError, "unserved", "start a node on which that version is registered for that queue",
				"%d due runs of workflow %s, version %d, queue %s, and no live node serves it; the oldest is due since %s", q.Due, q.Workflow, q.Version, q.Queue, d.c.out.at(*q.OldestAt))
		default:
			oldest = max(oldest, d.c.out.now.Sub(*q.OldestAt))
		}
	}
	if len(unserved) == 0 {
		d.say(severityOK, "unserved", "", "live nodes serve all that is due")
	}
	if err := d.retired(nodes, unserved); err != nil {
		return err
	}
	severity, how := severityOK, ""
	if oldest > waitWarning {
		severity, how = severityWarning, "queue list shows where: nodes are too few, full or slow; see docs/when-it-is-slow.md"
	}
	if oldest > waitError {
		severity = severityError
	}
	d.say(severity, "waiting", how, "the oldest due run that a node serves has waited for %s", span(oldest))
	return nil
}
