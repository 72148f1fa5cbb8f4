package postgres

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres/pgserver"
)

// What columns write in the protocol's binary form is what the server reads, nulls and bounds
// included, in both ways to execute a statement, and when the memory is used again.
func TestColumns(t *testing.T) {
	ctx := t.Context()
	server, err := pgserver.Start(ctx, &pgserver.Options{NoFsync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeExec} {
		config, err := pgx.ParseConfig(server.DSN("postgres"))
		if err != nil {
			t.Fatal(err)
		}
		config.DefaultQueryExecMode = mode
		conn, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(ctx)
		c := newColumns(uuidColumn, int16Column, int32Column, int64Column, textColumn, bytesColumn, instantColumn, textColumn)
		for range 2 {
			c.reset()
			id := journal.RunID{15: 7}
			at := time.Date(1999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)
			for i := range 3 {
				c.list[0].uuid(id)
				c.list[1].int16(math.MinInt16)
				c.list[2].nullInt32(int32(i))
				c.list[3].int64(math.MaxInt64)
				c.list[4].nullText([]string{"", "ä\n", "b"}[i])
				c.list[5].nullBytes([][]byte{{0, 255}, nil, {}}[i])
				c.list[6].nullTime([]time.Time{{}, at, at}[i])
				c.list[7].nullText("") // nothing but nulls
			}
			var got []string
			var last time.Time
			x := newExchange(conn)
			err = x.add(ctx, `
				SELECT i.at, concat_ws(' ', i.ord, i.id, i.a, coalesce(i.b::text, '-'), i.c, coalesce(i.d, '-'), coalesce(i.e::text, '-'), i.f IS NULL)
				FROM unnest($1::uuid[], $2::smallint[], $3::int[], $4::bigint[], $5::text[], $6::bytea[], $7::timestamptz[], $8::text[])
				     WITH ORDINALITY AS i(id, a, b, c, d, e, at, f, ord)`,
				c.params(), c.formats, func(row [][]byte) error {
					got = append(got, string(row[1]))
					if row[0] != nil {
						last = readTime(row[0])
					}
					return nil
				})
			if err == nil {
				err = x.send(ctx)
			}
			if err != nil {
				t.Fatal(err)
			}
			want := []string{
				`1 00000000-0000-0000-0000-000000000007 -32768 - 9223372036854775807 - \x00ff t`,
				"2 00000000-0000-0000-0000-000000000007 -32768 1 9223372036854775807 ä\n - t",
				"3 00000000-0000-0000-0000-000000000007 -32768 2 9223372036854775807 b - t",
			}
			if diff := cmp.Diff(want, got); diff != "" || !last.Equal(at) {
				t.Errorf("%s: time %s, (-want +got)\n%s", mode, last, diff)
			}
		}
	}
}
