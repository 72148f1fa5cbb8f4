package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/reprise-run/reprise/journal"
)

// finding is the answer to one question of the audit. Questions overlap on purpose: one lost row
// breaks several, and which of them break says what kind of loss it was (see
// TestAuditFindsTampering).
type finding struct {
	question string
	checked  int
	problems []string
}

func (f *finding) problem(format string, args ...any) {
	f.problems = append(f.problems, fmt.Sprintf(format, args...))
}

// audit compares what the journal promises with what the books of the shop and of the carrier say.
// It believes neither: a history without its effect, an effect without its history, and an effect
// that happened twice are all problems.
func audit(f *facts) []*finding {
	return []*finding{
		f.auditOutcomes(), f.auditShipped(), f.auditUndone(), f.auditStock(), f.auditMoney(), f.auditOnce(),
		f.auditEffects(), f.auditHistories(), f.auditInboxes(),
	}
}

const problemsShown = 5 // of one finding

// printAudit prints the findings and returns whether none has a problem.
func printAudit(out io.Writer, findings []*finding) bool {
	balanced := true
	for _, f := range findings {
		word := "ok "
		if len(f.problems) > 0 {
			word, balanced = "BAD", false
		}
		fmt.Fprintf(out, "  %s %-76s %6d\n", word, f.question, f.checked)
		for i, p := range f.problems {
			if i == problemsShown {
				fmt.Fprintf(out, "        and %d more\n", len(f.problems)-i)
				break
			}
			fmt.Fprintf(out, "        %s\n", p)
		}
	}
	return balanced
}

// auditOutcomes checks J8, one run for each order, and that the run ended in a way that fits the
// order. An order may have several right outcomes, if it competes for the last piece or is
// cancelled at a random time.
func (f *facts) auditOutcomes() *finding {
	a := &finding{question: "every order has one run, which has ended as it should"}
	for _, t := range f.tickets {
		a.checked++
		switch runs := f.runs[t.ID]; {
		case len(runs) != 1:
			a.problem("order %s has %d runs", t.ID, len(runs))
		case !runs[0].Status.Closed():
			a.problem("order %s is still open, run %s", t.ID, runs[0].ID)
		case !slices.Contains(t.Want, f.outcomes[t.ID]):
			a.problem("order %s ended as %q, want one of %q, run %s", t.ID, f.outcomes[t.ID], t.Want, runs[0].ID)
		}
	}
	return a
}

// ledger is what one order left in the shop's tables.
type ledger struct {
	stock     map[string]int64 // net quantity taken by item
	paid      sum
	charges   int // rows
	receipts  []receipt
	shipments []shipment // not recalled
	recalled  int
}

// ledgers sums up the books by order. Every order of the file has a ledger, if only an empty one.
func (f *facts) ledgers() map[string]*ledger {
	all := map[string]*ledger{}
	of := func(order string) *ledger {
		if all[order] == nil {
			all[order] = &ledger{stock: map[string]int64{}}
		}
		return all[order]
	}
	for _, m := range f.moves {
		of(m.Order).stock[m.SKU] += m.Quantity
	}
	for _, c := range f.charges {
		of(c.Order).paid.add(c.Cents)
		of(c.Order).charges++
	}
	for _, r := range f.receipts {
		of(r.Order).receipts = append(of(r.Order).receipts, r)
	}
	for _, s := range f.shipments {
		if s.Recalled {
			of(s.Order).recalled++
		} else {
			of(s.Order).shipments = append(of(s.Order).shipments, s)
		}
	}
	for _, t := range f.tickets {
		of(t.ID)
	}
	return all
}

// auditShipped checks orders one by one, so that an effect that is missing in one and doubled in
// another cannot balance out.
func (f *facts) auditShipped() *finding {
	a := &finding{question: "shipped orders: items taken, paid and sent exactly once, with a true receipt"}
	prices := map[string]int64{}
	for _, it := range f.items {
		prices[it.SKU] = it.Cents
	}
	ledgers := f.ledgers()
	for _, t := range f.tickets {
		if f.outcomes[t.ID] != outcomeShipped {
			continue
		}
		a.checked++
		l, result := ledgers[t.ID], f.results[t.ID]
		wanted, err := quantities(t.Order)
		if err != nil || !maps.Equal(wanted, l.stock) {
			a.problem("order %s took %v, want %v", t.ID, l.stock, wanted)
		}
		var price sum
		for sku, quantity := range wanted {
			price.add(prices[sku] * quantity)
		}
		if l.charges != 1 || l.paid.Cmp(&price.Int) != 0 {
			a.problem("order %s paid %s in %d charges, its price is %s", t.ID, l.paid.money(), l.charges, price.money())
		}
		if len(l.shipments) != 1 || l.recalled != 0 {
			a.problem("order %s has %d parcels on their way and %d recalled, want 1 and 0", t.ID, len(l.shipments), l.recalled)
			continue
		}
		if len(l.receipts) != 1 {
			a.problem("order %s has %d receipts", t.ID, len(l.receipts))
			continue
		}
		got := Receipt{Order: l.receipts[0].Order, Cents: l.receipts[0].Cents, Tracking: l.receipts[0].Tracking}
		want := Receipt{Order: t.ID, Cents: price.Int64(), Tracking: l.shipments[0].Tracking}
		if got != want || result != want {
			a.problem("order %s: receipt %+v, result %+v, want %+v", t.ID, got, result, want)
		}
	}
	return a
}

// auditUndone checks that compensations took everything back, whichever step failed, also when
// nodes died in the middle of the compensations.
func (f *facts) auditUndone() *finding {
	a := &finding{question: "all others: nothing is left, neither items, money, parcels nor receipts"}
	ledgers := f.ledgers()
	for _, t := range f.tickets {
		if f.outcomes[t.ID] == outcomeShipped {
			continue
		}
		a.checked++
		l := ledgers[t.ID]
		for sku, quantity := range l.stock {
			if quantity != 0 {
				a.problem("order %s (%s) still holds %d of %s", t.ID, f.outcomes[t.ID], quantity, sku)
			}
		}
		if l.paid.Sign() != 0 {
			a.problem("order %s (%s) still has %s", t.ID, f.outcomes[t.ID], l.paid.money())
		}
		if len(l.shipments) != 0 || len(l.receipts) != 0 {
			a.problem("order %s (%s) has %d parcels and %d receipts", t.ID, f.outcomes[t.ID], len(l.shipments), len(l.receipts))
		}
	}
	return a
}

// auditStock compares two records of the same steps, the counter of a shelf and the rows of its
// moves. They are written in one transaction, so they can differ only if a transaction was torn.
func (f *facts) auditStock() *finding {
	a := &finding{question: "stock: what is on each shelf is what was there less what was taken"}
	taken := map[string]int64{}
	for _, m := range f.moves {
		taken[m.SKU] += m.Quantity
	}
	for _, it := range f.items {
		a.checked++
		if it.Stock != it.Initial-taken[it.SKU] {
			a.problem("%s: %d on the shelf, want %d - %d = %d", it.SKU, it.Stock, it.Initial, taken[it.SKU], it.Initial-taken[it.SKU])
		}
	}
	return a
}

// auditMoney is auditStock for cards. In addition the sum of all charges must be the sum of all
// receipts: what was charged and not refunded has been shipped.
func (f *facts) auditMoney() *finding {
	a := &finding{question: "money: each card spent what was booked on it, and all of it has a receipt"}
	booked, total, receipted := map[string]*sum{}, sum{}, sum{}
	for _, c := range f.charges {
		if booked[c.Card] == nil {
			booked[c.Card] = &sum{}
		}
		booked[c.Card].add(c.Cents)
		total.add(c.Cents)
	}
	for _, card := range f.cards {
		a.checked++
		b := booked[card.Card]
		if b == nil {
			b = &sum{}
		}
		if b.String() != card.Spent {
			a.problem("card %s: spent %s cents, booked %s", card.Card, card.Spent, b.String())
		}
		delete(booked, card.Card)
	}
	for card := range booked {
		a.problem("card %s: booked %s, but it has no account", card, booked[card].money())
	}
	for _, r := range f.receipts {
		receipted.add(r.Cents)
	}
	if total.Cmp(&receipted.Int) != 0 {
		a.problem("cards paid %s, receipts say %s", total.money(), receipted.money())
	}
	return a
}

// effects lists every effect of a StepTx, as often as its rows were written.
func (f *facts) effects() []effect {
	var all []effect
	type piece struct {
		effect
		sku string
	}
	pieces, most := map[piece]int{}, map[effect]int{}
	for _, m := range f.moves { // one effect has a row for each item
		e := effect{m.Run, m.Step, m.Order}
		pieces[piece{e, m.SKU}]++
		most[e] = max(most[e], pieces[piece{e, m.SKU}])
	}
	for e, times := range most {
		all = append(all, slices.Repeat([]effect{e}, times)...)
	}
	for _, c := range f.charges {
		all = append(all, effect{c.Run, c.Step, c.Order})
	}
	for _, r := range f.receipts {
		all = append(all, effect{r.Run, r.Step, r.Order})
	}
	return append(all, f.requests...)
}

// auditOnce looks for effects that happened twice, which no constraint of the tables prevents. A
// parcel is known by its idempotency key: a second key for one order means that a step was not
// recognised when it ran again.
func (f *facts) auditOnce() *finding {
	a := &finding{question: "no effect happened twice"}
	times := map[effect]int{}
	for _, e := range f.effects() {
		times[e]++
	}
	for e, n := range times {
		a.checked++
		if n > 1 {
			a.problem("order %s: step %q of run %s had its effect %d times", e.Order, e.Step, e.Run, n)
		}
	}
	parcels := map[string]int{}
	for _, s := range f.shipments {
		parcels[s.Order]++
	}
	for order, n := range parcels {
		a.checked++
		if n > 1 {
			a.problem("order %s was shipped under %d keys", order, n)
		}
	}
	return a
}

// auditEffects compares effects with histories. StepTx promises that both exist or neither: its SQL
// and its event are in one transaction.
func (f *facts) auditEffects() *finding {
	a := &finding{question: "effects and histories agree: each has what the other says"}
	found := map[effect]bool{}
	for _, e := range f.effects() {
		found[e] = true
	}
	inTx := []string{stepReserve, stepRelease, stepCharge, stepRefund, stepRequest, stepReceipt}
	for order, runs := range f.runs {
		for _, run := range runs {
			for _, ev := range f.histories[run.ID].Events {
				if ev.Kind != journal.StepCompleted || !slices.Contains(inTx, ev.Name) {
					continue
				}
				a.checked++
				e := effect{run.ID.String(), ev.Name, order}
				if !found[e] {
					a.problem("order %s: step %q is in the history of run %s, its effect is missing", order, ev.Name, run.ID)
				}
				delete(found, e)
			}
		}
	}
	for e := range found {
		a.problem("order %s: step %q has an effect that the history of run %s does not know", e.Order, e.Step, e.Run)
	}
	return a
}
