package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/ui/record"
)

// topRecord is one look at all that goes on.
type topRecord struct {
	At       time.Time      `json:"at" doc:"when it was looked, by the store's clock"`
	Runs     []countRecord  `json:"runs" doc:"how many runs are open, and how many of them are blocked, quarantined or paused"`
	Nodes    []record.Node  `json:"nodes" doc:"the live nodes"`
	Queues   []record.Queue `json:"queues" doc:"what waits for nodes, longest first, and what they serve; empty if the store does not say"`
	Troubled []record.Run   `json:"troubled" doc:"the newest blocked and quarantined runs"`
}

// countRecord is how many runs have a status.
type countRecord struct {
	Status string `json:"status" doc:"open, which counts the others too, blocked, quarantined or paused"`
	Runs   int    `json:"runs" doc:"how many runs"`
	Capped bool   `json:"capped,omitempty" doc:"whether there are more: counting ends at 10000"`
}

func (c *countRecord) text() string {
	n := strconv.Itoa(c.Runs)
	if c.Capped {
		n += "+"
	}
	return c.Status + " " + n
}

const (
	// topEvery is seldom enough for a store that is busy, and often enough for somebody who waits.
	topEvery = 2 * time.Second
	// topCounts is where counting ends: beyond it only the order of magnitude matters.
	topCounts = 10_000
	// topTroubled is how many troubled runs are shown; more are listed by run list.
	topTroubled = 20
)

// topStatuses are counted.
var topStatuses = []string{"open", "blocked", "quarantined", "paused"}

func topVerb(a *app) *cobra.Command {
	var every time.Duration
	var times int
	c := &cobra.Command{
		Use: "top", Short: "Show what goes on, and look again and again", Args: cobra.NoArgs,
		Long: `Show what goes on, and look again and again: how many runs are open and how many of them
stand still, which nodes live, what waits for them and for how long, and the runs that
need somebody. On a terminal q ends it, and while the store is away it says so and goes on.
Elsewhere it looks once, or --times.`,
		RunE: a.reads(func(c *call, _ []string) error {
			switch {
			case every <= 0:
				return usage(c.Command, "--every %s must be positive", every)
			case times < 0:
				return usage(c.Command, "--times %d is negative", times)
			}
			if c.out.format == formatTable {
				if s := screenOf(c.Command); s != nil {
					defer s.close()
					w := window{screen: s, p: c.out}
					return c.top(s.quits(c.ctx), every, times, w.show)
				}
			}
			return c.top(c.ctx, every, max(times, 1), func(t *topRecord, err error) error {
				if err != nil {
					return err
				}
				return printOne(c.out, t, func(p *printer, t *topRecord) string { return t.text(p) })
			})
		}),
	}
	c.Flags().DurationVar(&every, "every", topEvery, "time between two looks")
	c.Flags().IntVar(&times, "times", 0, "end after so many looks; 0 until q or an interrupt on a terminal, and one elsewhere")
	waitsForEver(a, c)
	return printing(c, "top, with jsonl a line for each look")
}

// top looks until ctx ends, or so many times. show decides whether an error ends it.
func (c *call) top(ctx context.Context, every time.Duration, times int, show func(*topRecord, error) error) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for looks := 1; ; looks++ {
		t, err := c.look(ctx)
		if ctx.Err() != nil {
			return c.ctx.Err()
		}
		if err := show(t, err); err != nil || looks == times {
			return err
		}
		select {
		case <-ctx.Done():
			return c.ctx.Err()
		case <-tick.C:
		}
	}
}

// look looks once. Each of its questions is bounded in what it reads, see docs/finding-runs.md.
func (c *call) look(ctx context.Context) (*topRecord, error) {
	ctx, cancel := context.WithTimeout(ctx, timeoutDefault)
	defer cancel()
	look := *c
	look.ctx = ctx
	nodes, err := look.nodes()
	if err != nil {
		return nil, err
	}
	t := &topRecord{At: c.out.now, Nodes: record.NodesOf(nodes), Queues: []record.Queue{}, Troubled: []record.Run{}}
	for _, status := range topStatuses {
		n := countRecord{Status: status}
		n.Runs, n.Capped, err = c.client.Count(ctx, journal.ListFilter{Where: "status = " + status}, topCounts)
		if err != nil {
			return nil, err
		}
		t.Runs = append(t.Runs, n)
	}
	waits, err := look.backlog()
	switch {
	case err == nil:
		t.Queues = record.QueuesOf(waits, nodes, nil)
	case !errors.Is(err, errNoBacklog):
		return nil, err
	}
	slices.SortStableFunc(t.Queues, func(a, b record.Queue) int { return cmp.Compare(waitedSince(&a), waitedSince(&b)) })
	page, err := c.client.List(ctx, journal.ListFilter{Where: `status in ("blocked", "quarantined")`, Limit: topTroubled})
	if err != nil {
		return nil, err
	}
	for i := range page.Runs {
		t.Troubled = append(t.Troubled, c.records.Run(&page.Runs[i]))
	}
	return t, nil
}

// window shows the newest look on a screen.
type window struct {
	*screen
	p     *printer
	shown *topRecord
	at    time.Time // when it was shown first
}

// show replaces what is shown. While the store does not answer the last look stays, below the
// reason.
func (w *window) show(t *topRecord, err error) error {
	var head string
	switch {
	case err == nil:
		w.shown, w.at = t, time.Now()
	case w.shown == nil:
		return err // nothing was ever seen: the address is wrong, for instance
	default:
		head = "no answer for " + span(time.Since(w.at)) + ": " + oneLine(err.Error(), 200) + "\n"
	}
	return w.draw(head + w.shown.text(w.p))
}

// waitedSince orders queues: what has waited for longest comes first, and where nothing waits last.
func waitedSince(q *record.Queue) int64 {
	if q.OldestAt == nil {
		return 1<<63 - 1
	}
	return q.OldestAt.UnixNano()
}

// text is a look for people: a line of counts and three tables.
func (t *topRecord) text(p *printer) string {
	var b strings.Builder
	table := *p
	table.w = &b
	counts := make([]string, len(t.Runs))
	for i := range t.Runs {
		counts[i] = t.Runs[i].text()
	}
	at := t.At.Local().Format(time.TimeOnly)
	if p.utc {
		at = p.at(t.At)
	}
	fmt.Fprintf(&b, "%s  %s  nodes %d\n\n", at, strings.Join(counts, "  "), len(t.Nodes))
	must(printTable(&table, nodeColumns, t.Nodes)) // a builder takes everything
	if len(t.Queues) > 0 {
		b.WriteByte('\n')
		must(printTable(&table, queueColumns, t.Queues))
	}
	if len(t.Troubled) > 0 {
		b.WriteByte('\n')
		must(printTable(&table, runColumns, t.Troubled))
	}
	return b.String()
}
