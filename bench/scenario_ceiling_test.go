package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

// rowsSQL shows what is the same for every run of chain, and how often it is there.
const rowsSQL = `
SELECT concat_ws(' ', 'event', generation, seq, kind, cmd, attempt, name, encoding, issued, payload, inbox), count(*)
FROM reprise.events GROUP BY 1
UNION ALL
SELECT concat_ws(' ', 'run', generation, version, priority, status, holds_key, workflow, queue, closed_seq, input, input_encoding), count(*)
FROM reprise.runs GROUP BY 1
UNION ALL
SELECT concat_ws(' ', 'task', state, problem), count(*) FROM reprise.tasks GROUP BY 1`

// The ceiling writes the rows that chain writes, or it would be no ceiling of chain.
func TestCeilingWritesWhatChainWrites(t *testing.T) {
	const steps, runs = 3, 5
	o := options{runs: runs, concurrency: 1, nodes: 1}
	b := &bench{rig: shared, o: o, report: newReporter(&bytes.Buffer{}, nil, o, shared)}
	written := func(write func(d *database) error) (rows map[string]int) {
		t.Helper()
		err := b.inFresh(t.Context(), func(d *database) (err error) {
			if err = write(d); err == nil {
				rows, err = d.rows(t.Context())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	chained := written(func(d *database) error {
		_, _, err := b.chain(t.Context(), d, steps)
		return err
	})
	bare := written(func(d *database) error {
		w, err := b.newWriter(t.Context(), d, steps)
		if err != nil {
			return err
		}
		if err := w.write(t.Context(), nil, runs+warmUps); err != nil {
			return err
		}
		return w.close(t.Context())
	})
	if diff := cmp.Diff(chained, bare); diff != "" || len(bare) < 2 {
		t.Errorf("rows of chain (-) and of the ceiling (+):\n%s", diff)
	}
}

func (d *database) rows(ctx context.Context) (map[string]int, error) {
	conn, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	rows, _ := conn.Query(ctx, rowsSQL)
	all := map[string]int{}
	var text string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&text, &n}, func() error { all[text] = n; return nil })
	return all, err
}
