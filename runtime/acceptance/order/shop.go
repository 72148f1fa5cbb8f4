package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// shopSQL creates the shop's own tables beside the journal. Rows of moves, charges, requests and
// receipts name the run and step that wrote them, and nothing is unique about them: an effect that
// happened twice must show in the audit, not hide behind a constraint.
const shopSQL = `
create table if not exists shop_items (
  sku text primary key, name text not null, cents bigint not null, initial bigint not null,
  stock bigint not null check (stock >= 0));
create table if not exists shop_moves (
  id SERIAL, run text not null, step text not null, order_id text not null, sku text not null, quantity bigint not null);
create index if not exists shop_moves_order on shop_moves (order_id);
create table if not exists shop_cards (card text primary key, spent bigint not null);
create table if not exists shop_charges (
  id SERIAL, run text not null, step text not null, order_id text not null, card text not null, cents bigint not null);
create index if not exists shop_charges_order on shop_charges (order_id);
create table if not exists shop_requests (
  id SERIAL, run text not null, step text not null, order_id text not null, cents bigint not null, at bigint not null);
create table if not exists shop_receipts (
  id SERIAL, run text not null, step text not null, order_id text not null, cents bigint not null, tracking text not null);`

// bankSQL is the bank's memory.
const bankSQL = `
create table if not exists bank_declines (id SERIAL, order_id text not null, card text not null);
create index if not exists bank_declines_order on bank_declines (order_id);`

const stockSQL = `
insert into shop_items (sku, name, cents, initial, stock) values ($1, $2, $3, $4, $4) on conflict (sku) do nothing`

// setUp creates what is missing.
func setUp(ctx context.Context, db *database) error {
	if err := create(ctx, db.shop, shopSQL); err != nil {
		return fmt.Errorf("create the shop: %w", err)
	}
	if err := create(ctx, db.outside, bankSQL); err != nil {
		return fmt.Errorf("create the bank: %w", err)
	}
	if err := create(ctx, db.outside, carrierSQL); err != nil {
		return fmt.Errorf("create the carrier: %w", err)
	}
	return db.shop.inTx(ctx, "shelves", func(q queries) error {
		for _, it := range catalogue {
			if _, err := q.exec(ctx, stockSQL, it.SKU, it.Name, it.Cents, it.Stock); err != nil {
				return fmt.Errorf("fill the shelves: %w", err)
			}
		}
		return nil
	})
}

// Rejection is a business reason to give an order up; trying again cannot help.
type Rejection struct {
	Outcome string // one of the outcome constants
	Detail  string
}

// Error starts with the outcome: histories keep an error's type and text, and the audit reads them.
func (r *Rejection) Error() string { return r.Outcome + ": " + r.Detail }

func reject(outcome, format string, args ...any) error {
	return workflow.Permanent(&Rejection{outcome, fmt.Sprintf(format, args...)})
}

// Hold is reserved stock, and what it costs.
type Hold struct {
	Cents int64 `json:"cents"`
}

const shelfSQL = `select stock from shop_items where sku = $1`

// takeSQL takes from a shelf what is there. The rows are locked in the order of their keys, so that
// two orders never wait for each other.
const takeSQL = `update shop_items set stock = stock - $2 where sku = $1 and stock >= $2 returning cents`

const moveSQL = `insert into shop_moves (run, step, order_id, sku, quantity) values ($1, $2, $3, $4, $5)`

// reserve takes an order's items off the shelves.
func reserve(ctx context.Context, tx queries, run string, o Order) (Hold, error) {
	wanted, err := quantities(o)
	if err != nil {
		return Hold{}, err
	}
	skus := slices.Sorted(maps.Keys(wanted))
	unknown, stock := 0, map[string]int64{}
	for _, sku := range skus {
		var n int64
		found, err := one(ctx, tx, shelfSQL, []any{sku}, &n)
		if err != nil {
			return Hold{}, fmt.Errorf("look at the shelves: %w", err)
		}
		if stock[sku] = n; !found {
			unknown++
		}
	}
	if unknown > 0 {
		return Hold{}, reject(outcomeUnknown, "%d of %d items of order %s", unknown, len(skus), o.ID)
	}
	var hold Hold
	for _, sku := range skus {
		var cents int64
		taken, err := one(ctx, tx, takeSQL, []any{sku, wanted[sku]}, &cents)
		if err != nil {
			return Hold{}, fmt.Errorf("take from the shelves: %w", err)
		}
		if !taken {
			return Hold{}, reject(outcomeSoldOut, "%d of %s wanted, %d left", wanted[sku], sku, stock[sku])
		}
		hold.Cents += cents * wanted[sku] // cannot overflow: no shelf is worth that much
		if _, err := tx.exec(ctx, moveSQL, run, stepReserve, o.ID, sku, wanted[sku]); err != nil {
			return Hold{}, fmt.Errorf("record the reservation: %w", err)
		}
	}
	return hold, nil
}

// quantities adds up the lines that ask for the same item.
func quantities(o Order) (map[string]int64, error) {
	wanted := map[string]int64{}
	for _, l := range o.Lines {
		sum := wanted[l.SKU] + l.Quantity
		if l.Quantity <= 0 {
			return nil, reject(outcomeUnknown, "quantity %d of %q", l.Quantity, l.SKU)
		}
		if sum < l.Quantity {
			return nil, reject(outcomeSoldOut, "more of %q than can be counted", l.SKU)
		}
		wanted[l.SKU] = sum
	}
	return wanted, nil
}

const backSQL = `update shop_items set stock = stock + $2 where sku = $1`

// release puts an order's items back.
func release(ctx context.Context, tx queries, run string, o Order) error {
	wanted, err := quantities(o)
	if err != nil {
		return err
	}
	for _, sku := range slices.Sorted(maps.Keys(wanted)) {
		if _, err := tx.exec(ctx, backSQL, sku, wanted[sku]); err != nil {
			return fmt.Errorf("put back: %w", err)
		}
		if _, err := tx.exec(ctx, moveSQL, run, stepRelease, o.ID, sku, -wanted[sku]); err != nil {
			return fmt.Errorf("record the release: %w", err)
		}
	}
	return nil
}

const chargeSQL = `insert into shop_charges (run, step, order_id, card, cents) values ($1, $2, $3, $4, $5)`

const spendSQL = `
insert into shop_cards (card, spent) values ($1, $2) on conflict (card) do update set spent = shop_cards.spent + excluded.spent`

// book writes an amount to a card's account; a refund is a negative one.
func book(ctx context.Context, tx queries, run, step string, o Order, cents int64) error {
	if _, err := tx.exec(ctx, chargeSQL, run, step, o.ID, o.Card, cents); err != nil {
		return fmt.Errorf("record the %s: %w", step, err)
	}
	if _, err := tx.exec(ctx, spendSQL, o.Card, cents); err != nil {
		return fmt.Errorf("%s card %s: %w", step, o.Card, err)
	}
	return nil
}

// bank decides about cards. It notes declines in a book of its own, outside the transaction of the
// shop: a decline rolls that transaction back, and the bank still remembers it.
type bank struct{ book tables }

// declinesMax is how often the bank says no before it means it.
const declinesMax = 4

const declinedSQL = `select count(*) from bank_declines where order_id = $1`

const declineSQL = `insert into bank_declines (order_id, card) values ($1, $2)`

// thinkMin and thinkMax are how long the bank looks at a card.
const (
	thinkMin = 20 * time.Millisecond
	thinkMax = 120 * time.Millisecond
)

// think is the slow part of a decision. It comes before the transaction's first statement, so that
// nobody waits for a lock while the bank thinks.
func (b *bank) think(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(thinkMin + time.Duration(rand.Int64N(int64(thinkMax-thinkMin)))):
		return nil
	}
}

// authorize asks for the customer's money. Cards named flakyN decline N times and then pass, empty
// ones always decline.
func (b *bank) authorize(ctx context.Context, o Order) error {
	temper, _, _ := strings.Cut(o.Card, "-")
	if temper == "stolen" {
		return reject(outcomeStolen, "card %s", o.Card)
	}
	times, flaky := strings.CutPrefix(temper, "flaky")
	if !flaky && temper != "empty" {
		return nil
	}
	var before int
	if _, err := one(ctx, b.book, declinedSQL, []any{o.ID}, &before); err != nil {
		return fmt.Errorf("ask the bank: %w", err)
	}
	if n, err := strconv.Atoi(times); flaky && err == nil && before >= n {
		return nil
	}
	if before >= declinesMax {
		return reject(outcomeDeclined, "card %s, %d times", o.Card, before)
	}
	if _, err := b.book.exec(ctx, declineSQL, o.ID, o.Card); err != nil {
		return fmt.Errorf("note the decline: %w", err)
	}
	return fmt.Errorf("card %s was declined", o.Card)
}

const requestSQL = `insert into shop_requests (run, step, order_id, cents, at) values ($1, $2, $3, $4, $5)`

// request asks the desk for an approval.
func request(ctx context.Context, tx queries, run string, o Order, cents int64) error {
	if _, err := tx.exec(ctx, requestSQL, run, stepRequest, o.ID, cents, time.Now().UnixMicro()); err != nil {
		return fmt.Errorf("request an approval: %w", err)
	}
	return nil
}

const receiptSQL = `insert into shop_receipts (run, step, order_id, cents, tracking) values ($1, $2, $3, $4, $5)`

// issue writes the receipt; it fails for good if the customer's mail bounces.
func issue(ctx context.Context, tx queries, run string, o Order, r Receipt) error {
	if _, err := tx.exec(ctx, receiptSQL, run, stepReceipt, o.ID, r.Cents, r.Tracking); err != nil {
		return fmt.Errorf("write the receipt: %w", err)
	}
	if strings.HasPrefix(o.Email, "bounce@") {
		return reject(outcomeBounced, "mail to %s", o.Email)
	}
	return nil
}
