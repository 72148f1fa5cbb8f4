package main

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// facts is everything the audit looks at: what the journal says and what the shop's tables say.
type facts struct {
	tickets   []ticket
	runs      map[string][]journal.Run // by order id
	histories map[journal.RunID]driver.History
	outcomes  map[string]string  // by order id; empty while the order is open
	results   map[string]Receipt // of shipped orders

	items     []shelf
	moves     []move
	cards     []account
	charges   []charge
	requests  []effect
	receipts  []receipt
	shipments []shipment
}

// effect is what every row that a StepTx wrote begins with.
type effect struct{ Run, Step, Order string }

type (
	shelf struct {
		SKU                   string
		Cents, Initial, Stock int64
	}
	move struct {
		Run, Step, Order, SKU string
		Quantity              int64
	}
	account struct {
		Card  string
		Spent string // cents
	}
	charge struct {
		Run, Step, Order, Card string
		Cents                  int64
	}
	receipt struct {
		Run, Step, Order string
		Cents            int64
		Tracking         string
	}
	shipment struct {
		Key, Order, Tracking string
		Calls                int64
		Recalled             bool
	}
)

// collect reads the journal first and the tables after it, as of one moment. All runs have ended by
// then, so nothing changes between the two.
func collect(ctx context.Context, db *database, tickets []ticket) (*facts, error) {
	f := &facts{
		tickets: tickets, runs: map[string][]journal.Run{}, histories: map[journal.RunID]driver.History{},
		outcomes: map[string]string{}, results: map[string]Receipt{},
	}
	if err := f.readRuns(ctx, db.journal); err != nil {
		return nil, err
	}
	return f, f.readShop(ctx, db)
}

func (f *facts) readRuns(ctx context.Context, j *driver.Journal) error {
	filter := journal.ListFilter{Workflow: string(Checkout), KeyPrefix: keyPrefix, Limit: journal.ListMax}
	var requests []driver.LoadRequest
	for {
		page, err := j.List(ctx, filter)
		if err != nil {
			return err
		}
		for _, run := range page.Runs {
			id := strings.TrimPrefix(run.Key, keyPrefix)
			f.runs[id] = append(f.runs[id], run)
			requests = append(requests, driver.LoadRequest{Run: run.ID})
			if err := f.classify(j, id, run); err != nil {
				return err
			}
		}
		if filter.Cursor = page.Next; page.Next == "" {
			break
		}
	}
	loaded, err := j.Load(ctx, requests)
	if err != nil {
		return err
	}
	for i, h := range loaded {
		f.histories[requests[i].Run] = h
	}
	return nil
}

// classify names how a run ended.
func (f *facts) classify(j *driver.Journal, id string, run journal.Run) error {
	switch {
	case run.Terminal == nil:
		return nil
	case run.Status == journal.Completed:
		var r Receipt
		if err := j.Codec().Decode(run.Terminal.Payload, &r); err != nil {
			return fmt.Errorf("result of order %s: %w", id, err)
		}
		f.outcomes[id], f.results[id] = outcomeShipped, r
	case run.Status == journal.Cancelled:
		f.outcomes[id] = outcomeCancelled
	default:
		failure, err := journal.DecodeFailure(run.Terminal.Payload)
		if err != nil {
			return fmt.Errorf("failure of order %s: %w", id, err)
		}
		f.outcomes[id] = outcomeOf(failure)
	}
	return nil
}

// outcomeOf finds the rejection in a failure. A saga that could not be undone is none, whatever it
// began with.
func outcomeOf(f *journal.Failure) string {
	if f.Type == "*main.Rejection" {
		outcome, _, _ := strings.Cut(f.Message, ":")
		return outcome
	}
	return "failed: " + f.Type + ": " + f.Message
}

func (f *facts) readShop(ctx context.Context, db *database) error {
	err := db.shop.snapshot(ctx, func(q queries) (err error) {
		for _, read := range []func() error{
			func() error {
				f.items, err = rows(ctx, q, itemsSQL, func(s *shelf) []any { return []any{&s.SKU, &s.Cents, &s.Initial, &s.Stock} })
				return err
			},
			func() error {
				f.moves, err = rows(ctx, q, movesSQL, func(m *move) []any { return []any{&m.Run, &m.Step, &m.Order, &m.SKU, &m.Quantity} })
				return err
			},
			func() error {
				f.cards, err = rows(ctx, q, cardsSQL, func(a *account) []any { return []any{&a.Card, &a.Spent} })
				return err
			},
			func() error {
				f.charges, err = rows(ctx, q, chargesSQL, func(c *charge) []any { return []any{&c.Run, &c.Step, &c.Order, &c.Card, &c.Cents} })
				return err
			},
			func() error {
				f.requests, err = rows(ctx, q, requestsSQL, func(e *effect) []any { return []any{&e.Run, &e.Step, &e.Order} })
				return err
			},
			func() error {
				f.receipts, err = rows(ctx, q, receiptsSQL, func(r *receipt) []any { return []any{&r.Run, &r.Step, &r.Order, &r.Cents, &r.Tracking} })
				return err
			},
		} {
			if err := read(); err != nil {
				return fmt.Errorf("read the shop: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	f.shipments, err = rows(ctx, db.outside, shipmentsSQL, func(s *shipment) []any {
		return []any{&s.Key, &s.Order, &s.Tracking, &s.Calls, &s.Recalled}
	})
	return err
}

const (
	itemsSQL     = `select sku, cents, initial, stock from shop_items order by sku`
	movesSQL     = `select run, step, order_id, sku, quantity from shop_moves order by id`
	cardsSQL     = `select card, cast(spent as text) from shop_cards order by card`
	chargesSQL   = `select run, step, order_id, card, cents from shop_charges order by id`
	requestsSQL  = `select run, step, order_id from shop_requests order by id`
	receiptsSQL  = `select run, step, order_id, cents, tracking from shop_receipts order by id`
	shipmentsSQL = `select key, order_id, tracking, calls, recalled from carrier_shipments order by order_id, key`
)

// rows reads every row into a T, whose fields targets lists.
func rows[T any](ctx context.Context, q queries, text string, targets func(*T) []any, args ...any) (list []T, err error) {
	err = q.query(ctx, text, func(scan func(...any) error) error {
		var v T
		if err := scan(targets(&v)...); err != nil {
			return err
		}
		list = append(list, v)
		return nil
	}, args...)
	return list, err
}

// sum adds up amounts without overflow.
type sum struct{ big.Int }

func (s *sum) add(cents int64) { s.Add(&s.Int, big.NewInt(cents)) }

// money prints cents as units with two decimals and grouped thousands.
func (s *sum) money() string {
	digits := new(big.Int).Abs(&s.Int).String()
	for len(digits) < 3 {
		digits = "0" + digits
	}
	units, cents := digits[:len(digits)-2], digits[len(digits)-2:]
	for at := len(units) - 3; at > 0; at -= 3 {
		units = units[:at] + "," + units[at:]
	}
	if s.Sign() < 0 {
		units = "-" + units
	}
	return units + "." + cents
}
