package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/filter"
	"github.com/reprise-run/reprise/migrations"
)

// Aggregate implements driver.Store. The database counts; a round trip before it asks for the time,
// which the answer has.
func (s *Store) Aggregate(ctx context.Context, a journal.Aggregate) (journal.Aggregated, error) {
	by, err := filter.ParseBy(a.By)
	if err != nil {
		return journal.Aggregated{}, err
	}
	var out journal.Aggregated
	err = s.call(inShare(ctx, slowShare), func(ctx context.Context, c *pgx.Conn) error {
		var at time.Time
		if err := c.QueryRow(ctx, listNowSQL).Scan(&at); err != nil {
			return err
		}
		q, err := filter.NewQuery(a.Filter.Where, "", func() (time.Time, error) { return at, nil })
		if err != nil {
			return err
		}
		q.Order = filter.Order{}
		most := filter.CapOf(&a)
		b, err := tallyStatement(&a, q, by, most)
		if err != nil {
			return err
		}
		var p pipeline
		if !s.o.Pooler {
			p.exec(listPlanSQL)
		}
		var groups []journal.Group
		runs := 0
		p.query(migrations.Render(b.text.String(), s.o.Schema), each(func(row pgx.CollectableRow) error {
			var r tallyRow
			err := r.scan(row)
			groups, runs = append(groups, r.group()), int(r.all)
			return err
		}), b.args...)
		if err := p.send(ctx, c); err != nil {
			return err
		}
		out = filter.Answer(groups, by, runs, most, at.UTC())
		return nil
	})
	return out, err
}
