package postgres_test

import (
	"slices"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// tallies are what docs/finding-runs.md counts.
var tallies = []journal.Aggregate{
	{},
	{By: []journal.Grouping{{Field: "workflow"}, {Field: "status"}}},
	{By: []journal.Grouping{{Field: "region"}}},
	{Filter: journal.ListFilter{Where: `closed between -1d and now`},
		By: []journal.Grouping{{Field: "workflow"}, {Field: "status"}, {Field: "closed", Bucket: time.Hour}}},
	{Filter: journal.ListFilter{Where: `closed > -1d`}, By: []journal.Grouping{{Field: "closed", Bucket: time.Hour}, {Field: "status"}}, Histories: true},
	{Filter: journal.ListFilter{Where: `status = failed`}, By: []journal.Grouping{{Field: "workflow"}}},
	{Filter: journal.ListFilter{Where: `status in ("failed", "blocked")`}, By: []journal.Grouping{{Field: "workflow"}, {Field: "version"}}},
	{Filter: journal.ListFilter{Where: `status = open`}, By: []journal.Grouping{{Field: "queue"}, {Field: "priority"}}},
	{Filter: journal.ListFilter{Where: `workflow = "order"`}, By: []journal.Grouping{{Field: "status"}}},
	{Filter: journal.ListFilter{Where: `error.class = "class11"`}, By: []journal.Grouping{{Field: "created", Bucket: 24 * time.Hour}}},
	{By: []journal.Grouping{{Field: "workflow"}}, Histories: true},
}

// BenchmarkAggregate counts among a million runs, with the caps that are meant if none is said, and
// reports the 95th percentile of all counts and the slowest, in milliseconds.
func BenchmarkAggregate(b *testing.B) {
	dsn := pgtest.Empty(b)
	plantMonth(b, dsn, 1_000_000)
	s, err := postgres.Open(b.Context(), dsn, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var all []time.Duration
	for b.Loop() {
		for _, a := range tallies {
			began := time.Now()
			out, err := s.Aggregate(b.Context(), a)
			if err != nil || out.Runs == 0 {
				b.Fatalf("%+v: %d runs, %v", a, out.Runs, err)
			}
			took := time.Since(began)
			if all = append(all, took); took > 500*time.Millisecond {
				b.Logf("%q by %v, histories %v: %s for %d runs", a.Filter.Where, a.By, a.Histories, took, out.Runs)
			}
		}
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)*95/100].Microseconds())/1000, "p95-ms")
	b.ReportMetric(float64(all[len(all)-1].Microseconds())/1000, "max-ms")
}

// BenchmarkFailures reads what a count of failures reads among a million runs: the newest 10,000
// that have failed, and those that are blocked, in pages of the largest size.
func BenchmarkFailures(b *testing.B) {
	dsn := pgtest.Empty(b)
	plantMonth(b, dsn, 1_000_000)
	s, err := postgres.Open(b.Context(), dsn, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for b.Loop() {
		for _, f := range []journal.ListFilter{{Status: new(journal.Failed)}, {State: new(journal.Blocked)}} {
			runs := 0
			for f.Limit = journal.ListMax; runs < 10_000; {
				page, err := s.List(b.Context(), f)
				if err != nil {
					b.Fatal(err)
				}
				runs += len(page.Runs)
				if f.Cursor = page.Next; f.Cursor == "" {
					break
				}
			}
			if runs < 1_000 {
				b.Fatalf("there are %d runs", runs)
			}
		}
	}
}
