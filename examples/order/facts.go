package main

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/reprise-run/reprise/journal"
)

// facts is everything the audit looks at: what the journal says and what the shop's tables say.
type facts struct {
	tickets   []ticket
	runs      map[string][]journal.Run // by order id
	histories map[journal.RunID]journal.History
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
		Spent string // whole cents, beyond 64 bits perhaps
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

// collect reads everything. The shop's tables are read as of one moment, after the journal.
func collect(ctx context.Context, j *journal.Journal, pool *pgxpool.Pool, tickets []ticket) (*facts, error) {
	f := &facts{
		tickets: tickets, runs: map[string][]journal.Run{}, histories: map[journal.RunID]journal.History{},
		outcomes: map[string]string{}, results: map[string]Receipt{},
	}
	if err := f.readRuns(ctx, j); err != nil {
		return nil, err
	}
	return f, f.readShop(ctx, pool)
}

func (f *facts) readRuns(ctx context.Context, j *journal.Journal) error {
	filter := journal.ListFilter{Workflow: string(Checkout), KeyPrefix: keyPrefix, Limit: journal.ListMax}
	var requests []journal.LoadRequest
	for {
		page, err := j.List(ctx, filter)
		if err != nil {
			return err
		}
		for _, run := range page.Runs {
			id := strings.TrimPrefix(run.Key, keyPrefix)
			f.runs[id] = append(f.runs[id], run)
			requests = append(requests, journal.LoadRequest{Run: run.ID})
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
func (f *facts) classify(j *journal.Journal, id string, run journal.Run) error {
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

// outcomeOf finds the rejection in a failure. A saga that could not be undone is none, whatever it began with.
func outcomeOf(f *journal.Failure) string {
	if f.Type == "*main.Rejection" {
		outcome, _, _ := strings.Cut(f.Message, ":")
		return outcome
	}
	return "failed: " + f.Type + ": " + f.Message
}

func (f *facts) readShop(ctx context.Context, pool *pgxpool.Pool) error {
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return pgx.BeginTxFunc(ctx, pool, snapshot, func(tx pgx.Tx) (err error) {
		for _, read := range []func() error{
			func() error { f.items, err = rows[shelf](ctx, tx, itemsSQL); return err },
			func() error { f.moves, err = rows[move](ctx, tx, movesSQL); return err },
			func() error { f.cards, err = rows[account](ctx, tx, cardsSQL); return err },
			func() error { f.charges, err = rows[charge](ctx, tx, chargesSQL); return err },
			func() error { f.requests, err = rows[effect](ctx, tx, requestsSQL); return err },
			func() error { f.receipts, err = rows[receipt](ctx, tx, receiptsSQL); return err },
			func() error { f.shipments, err = rows[shipment](ctx, tx, shipmentsSQL); return err },
		} {
			if err := read(); err != nil {
				return fmt.Errorf("read the shop: %w", err)
			}
		}
		return nil
	})
}

const (
	itemsSQL     = `select sku, cents, initial, stock from shop.items order by sku`
	movesSQL     = `select run, step, order_id, sku, quantity from shop.moves order by id`
	cardsSQL     = `select card, spent::text from shop.cards order by card`
	chargesSQL   = `select run, step, order_id, card, cents from shop.charges order by id`
	requestsSQL  = `select run, step, order_id from shop.requests order by id`
	receiptsSQL  = `select run, step, order_id, cents, tracking from shop.receipts order by id`
	shipmentsSQL = `select key, order_id, tracking, calls, recalled from shop.shipments order by order_id, key`
)

func rows[T any](ctx context.Context, tx pgx.Tx, sql string) ([]T, error) {
	r, _ := tx.Query(ctx, sql)
	return pgx.CollectRows(r, pgx.RowToStructByPos[T])
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
