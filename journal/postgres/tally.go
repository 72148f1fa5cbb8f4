package postgres

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/filter"
)

// An aggregate counts in the database, from the same list of runs as a listing, which a limit cuts:
// $13 of listArgs. Two durations are those of runs, so that Go comes to the same, see filter.Tally.
const (
	tallySelect fragment = `
SELECT m.at, count(*), count(m.took), percentile_disc(0.5) WITHIN GROUP (ORDER BY m.took),
       percentile_disc(0.95) WITHIN GROUP (ORDER BY m.took), sum(count(*)) OVER (),
       coalesce(sum(m.steps[1]), 0), coalesce(sum(m.steps[2]), 0)
FROM (
`
	tallyRun     fragment = "SELECT ARRAY["
	tallyTook    fragment = "]::text[] AS at, CASE WHEN r.closed_at IS NOT NULL THEN " + exprDuration + " END AS took"
	tallyPlain   fragment = ", NULL::bigint[] AS steps\n"
	tallyHistory fragment = `,
       (SELECT ARRAY[count(*), sum(e.attempt)] FROM reprise.events e
        WHERE e.run_id = r.id AND e.generation = r.generation AND e.kind IN (2, 3)) AS steps
`
	tallyGroup fragment = `
) m GROUP BY m.at ORDER BY count(*) DESC, m.at COLLATE "C" LIMIT `
	tallyLimit fragment = "\nLIMIT $13::int"

	byWorkflow fragment = "r.workflow"
	byQueue    fragment = "r.queue"
	byVersion  fragment = "r.version::text"
	byPriority fragment = "r.priority::text"
	byStatus   fragment = "CASE r.status WHEN 0 THEN 'open' WHEN 1 THEN 'completed' WHEN 2 THEN 'failed' WHEN 3 THEN 'cancelled' " +
		"WHEN 4 THEN 'terminated' ELSE 'status(' || r.status || ')' END"
	byLabel   fragment = "coalesce(r.labels ->> "
	byLabel2  fragment = ", '')"
	byCreated fragment = "coalesce(((extract(epoch FROM r.created_at) * 1000000)::bigint / "
	byStarted fragment = "coalesce(((extract(epoch FROM " + exprStarted + ") * 1000000)::bigint / "
	byClosed  fragment = "coalesce(((extract(epoch FROM r.closed_at) * 1000000)::bigint / "
	byBucket  fragment = " * "
	byBucket2 fragment = ")::text, '')"
)

// groupings are the expressions of those that need no parameter, and the beginnings of times.
var groupings = map[filter.Field]fragment{
	filter.FieldWorkflow: byWorkflow, filter.FieldQueue: byQueue, filter.FieldVersion: byVersion, filter.FieldPriority: byPriority,
	filter.FieldStatus: byStatus, filter.FieldCreated: byCreated, filter.FieldStarted: byStarted, filter.FieldClosed: byClosed,
}

// tallyStatement puts together what counts at most that many runs.
func tallyStatement(a *journal.Aggregate, q *filter.Query, by []filter.By, most int) (*built, error) {
	f := &a.Filter
	args, _, err := findArgs(f)
	if err != nil {
		return nil, err
	}
	args[12] = int32(most)
	b := &built{args: args}
	b.add(tallySelect)
	parts := partsOf(f, q)
	b.parts(parts, func(conditions []filter.Expr) {
		b.tallied(a, by)
		b.from(f, conditions, false)
		b.add(tallyLimit)
	})
	if len(parts) > 1 {
		b.add(tallyLimit)
	}
	b.add(tallyGroup)
	b.arg(int64(journal.GroupsMax), castNumber)
	return b, nil
}

// tallied adds what is read of each run.
func (b *built) tallied(a *journal.Aggregate, by []filter.By) {
	b.add(tallyRun)
	for i, g := range by {
		if i > 0 {
			b.add(comma)
		}
		b.grouping(g)
	}
	b.add(tallyTook)
	if a.Histories {
		b.add(tallyHistory)
	} else {
		b.add(tallyPlain)
	}
}

func (b *built) grouping(g filter.By) {
	switch {
	case g.Field == filter.FieldLabel:
		b.add(byLabel)
		b.arg(g.Label, castText)
		b.add(byLabel2)
	case g.Bucket > 0:
		b.add(groupings[g.Field])
		b.arg(g.Bucket, castNumber)
		b.add(byBucket)
		b.arg(g.Bucket, castNumber)
		b.add(byBucket2)
	default:
		b.add(groupings[g.Field])
	}
}

// tallyRow reads a row of the statement.
type tallyRow struct {
	values       []string
	runs, closed int64
	p50, p95     *time.Duration
	all          int64

	steps, attempts int64
}

func (r *tallyRow) scan(row pgx.CollectableRow) error {
	return row.Scan(&r.values, &r.runs, &r.closed, &r.p50, &r.p95, &r.all, &r.steps, &r.attempts)
}

func (r *tallyRow) group() journal.Group {
	g := journal.Group{Values: r.values, Runs: int(r.runs), Closed: int(r.closed), Steps: r.steps, Attempts: r.attempts}
	if r.p50 != nil && r.p95 != nil {
		g.P50, g.P95 = *r.p50, *r.p95
	}
	return g
}
