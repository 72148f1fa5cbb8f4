package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
)

// TestAuditFindsTampering runs some orders and then changes one fact at a time: the right questions
// must fail.
func TestAuditFindsTampering(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := newProgram(t, "", "-orders=60", "-over=1s", "-keep", "-dir="+dir).Run(); err != nil {
		t.Fatal(err)
	}
	honest := collectFrom(t, dir)
	if bad := broken(honest); len(bad) > 0 {
		t.Fatalf("the honest facts do not balance: %q", bad)
	}
	shipped := func(f *facts) string {
		i := slices.IndexFunc(f.tickets, func(t ticket) bool { return f.outcomes[t.ID] == outcomeShipped && f.results[t.ID].Cents > 0 })
		return f.tickets[i].ID
	}
	for name, test := range map[string]struct {
		tamper func(f *facts)
		want   []string
	}{
		"stock row lost": {
			func(f *facts) { i := firstMove(f); f.moves = slices.Delete(f.moves, i, i+1) },
			[]string{"shipped orders", "stock"},
		},
		"stock row doubled": {
			func(f *facts) { f.moves = append(f.moves, f.moves[firstMove(f)]) },
			[]string{"shipped orders", "stock", "no effect happened twice"},
		},
		"item stolen": {
			func(f *facts) { f.items[0].Stock-- },
			[]string{"stock"},
		},
		"charge doubled": {
			func(f *facts) { f.charges = append(f.charges, find(f.charges, shipped(f))) },
			[]string{"shipped orders", "money", "no effect happened twice"},
		},
		"charge without run": {
			func(f *facts) { c := find(f.charges, shipped(f)); c.Run = "?"; f.charges = append(f.charges, c) },
			[]string{"shipped orders", "money", "effects and histories"},
		},
		"card's account": {
			func(f *facts) { f.cards[0].Spent += "1" },
			[]string{"money"},
		},
		"refund lost": {func(f *facts) {
			f.charges = slices.DeleteFunc(f.charges, func(c charge) bool { return c.Step == stepRefund })
		}, []string{"all others", "money", "effects and histories"}},
		"receipt lost": {
			func(f *facts) { f.receipts = f.receipts[1:] },
			[]string{"shipped orders", "money", "effects and histories"},
		},
		"parcel sent twice": {
			func(f *facts) { s := live(f); s.Key += "'"; f.shipments = append(f.shipments, s) },
			[]string{"shipped orders", "no effect happened twice"},
		},
		"parcel not recalled": {
			func(f *facts) { recalled(f).Recalled = false },
			[]string{"all others"},
		},
		"run lost": {
			func(f *facts) { delete(f.runs, shipped(f)) },
			[]string{"every order", "effects and histories"},
		},
		"wrong end": {
			func(f *facts) { f.outcomes[shipped(f)] = outcomeDeclined },
			[]string{"every order", "all others"},
		},
		"event lost": {
			func(f *facts) { cut(f, shipped(f), 1) },
			[]string{"effects and histories", "histories"},
		},
		"history unfinished": {
			func(f *facts) { h := f.run(shipped(f)); cut(f, shipped(f), len(f.histories[h].Events)-1) },
			[]string{"histories"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := copyOf(honest)
			test.tamper(f)
			bad := broken(f)
			for _, want := range test.want {
				if !slices.ContainsFunc(bad, func(q string) bool { return strings.HasPrefix(q, want) }) {
					t.Errorf("%q is not among the broken %q", want, bad)
				}
			}
			if len(bad) != len(test.want) {
				t.Errorf("broken: %q, want %q", bad, test.want)
			}
		})
	}
}

func collectFrom(t *testing.T, dir string) *facts {
	t.Helper()
	db := &database{dir: dir}
	defer db.Close()
	if err := db.connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	tickets, err := readTickets(60)
	if err != nil {
		t.Fatal(err)
	}
	f, err := collect(t.Context(), db, tickets)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// broken returns the questions whose answer is not good.
func broken(f *facts) (questions []string) {
	for _, a := range audit(f) {
		if len(a.problems) > 0 {
			questions = append(questions, a.question)
		}
	}
	return questions
}

// copyOf copies as deep as the tests change things.
func copyOf(f *facts) *facts {
	c := *f
	c.runs, c.histories, c.outcomes = maps.Clone(f.runs), maps.Clone(f.histories), maps.Clone(f.outcomes)
	c.items, c.moves, c.cards, c.charges = slices.Clone(f.items), slices.Clone(f.moves), slices.Clone(f.cards), slices.Clone(f.charges)
	c.receipts, c.shipments = slices.Clone(f.receipts), slices.Clone(f.shipments)
	return &c
}

func (f *facts) run(order string) journal.RunID { return f.runs[order][0].ID }

// cut removes an event of an order's history.
func cut(f *facts, order string, at int) {
	h := f.histories[f.run(order)]
	h.Events = slices.Delete(slices.Clone(h.Events), at, at+1)
	f.histories[f.run(order)] = h
}

func find(charges []charge, order string) charge {
	return charges[slices.IndexFunc(charges, func(c charge) bool { return c.Order == order })]
}

// firstMove finds a row of an order with several items that is always shipped.
func firstMove(f *facts) int {
	return slices.IndexFunc(f.moves, func(m move) bool { return m.Order == "A-0001" })
}

func live(f *facts) shipment {
	return f.shipments[slices.IndexFunc(f.shipments, func(s shipment) bool { return !s.Recalled })]
}

func recalled(f *facts) *shipment {
	return &f.shipments[slices.IndexFunc(f.shipments, func(s shipment) bool { return s.Recalled })]
}
