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

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/reprise-run/reprise/replay/workflow"
)

// shopSQL creates the shop's own tables beside the journal. Rows of moves, charges, requests and receipts
// name the run and step that wrote them, and nothing is unique about them: an
// effect that happened twice must show in the audit, not hide behind a constraint.
const shopSQL = `
create schema if not exists shop;
create table if not exists shop.items (
  sku text primary key, name text not null, cents bigint not null, initial bigint not null,
  stock bigint not null check (stock >= 0));
create table if not exists shop.moves (
  id bigint generated always as identity primary key, run text not null, step text not null,
  order_id text not null, sku text not null, quantity bigint not null, at timestamptz not null default now());
create index if not exists moves_order on shop.moves (order_id);
create table if not exists shop.cards (card text primary key, spent numeric not null);
create table if not exists shop.charges (
  id bigint generated always as identity primary key, run text not null, step text not null,
  order_id text not null, card text not null, cents bigint not null, at timestamptz not null default now());
create index if not exists charges_order on shop.charges (order_id);
create table if not exists shop.declines (
  id bigint generated always as identity primary key, order_id text not null, card text not null,
  at timestamptz not null default now());
create table if not exists shop.requests (
  id bigint generated always as identity primary key, run text not null, step text not null,
  order_id text not null, cents bigint not null, at timestamptz not null default now());
create table if not exists shop.receipts (
  id bigint generated always as identity primary key, run text not null, step text not null,
  order_id text not null, cents bigint not null, tracking text not null, at timestamptz not null default now());`

const stockSQL = `
insert into shop.items (sku, name, cents, initial, stock) values ($1, $2, $3, $4, $4) on conflict (sku) do nothing`

// setUp creates what is missing in the shop's schema.
func setUp(ctx context.Context, pool *pgxpool.Pool) error {
	if _, err := pool.Exec(ctx, shopSQL); err != nil {
		return fmt.Errorf("create the shop: %w", err)
	}
	if _, err := pool.Exec(ctx, carrierSQL); err != nil {
		return fmt.Errorf("create the carrier: %w", err)
	}
	batch := &pgx.Batch{}
	for _, it := range catalogue {
		batch.Queue(stockSQL, it.SKU, it.Name, it.Cents, it.Stock)
	}
	if err := pool.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("fill the shelves: %w", err)
	}
	return nil
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

// The rows are locked in the order of their keys, so that two orders never wait for each other.
const shelfSQL = `select sku, cents, stock from shop.items where sku = any($1) order by sku for update`

const takeSQL = `
update shop.items i set stock = i.stock - u.quantity
from unnest($1::text[], $2::bigint[]) as u(sku, quantity) where i.sku = u.sku`

const moveSQL = `
insert into shop.moves (run, step, order_id, sku, quantity)
select $1, $2, $3, u.sku, u.quantity from unnest($4::text[], $5::bigint[]) as u(sku, quantity)`

// reserve takes an order's items off the shelves.
func reserve(ctx context.Context, tx pgx.Tx, run string, o Order) (Hold, error) {
	wanted, err := quantities(o)
	if err != nil {
		return Hold{}, err
	}
	skus := slices.Sorted(maps.Keys(wanted))
	rows, _ := tx.Query(ctx, shelfSQL, skus)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct {
		SKU          string
		Cents, Stock int64
	}])
	if err != nil {
		return Hold{}, fmt.Errorf("look at the shelves: %w", err)
	}
	if len(found) < len(skus) {
		return Hold{}, reject(outcomeUnknown, "%d of %d items of order %s", len(skus)-len(found), len(skus), o.ID)
	}
	var hold Hold
	amounts := make([]int64, 0, len(skus))
	for _, f := range found {
		if wanted[f.SKU] > f.Stock {
			return Hold{}, reject(outcomeSoldOut, "%d of %s wanted, %d left", wanted[f.SKU], f.SKU, f.Stock)
		}
		hold.Cents += f.Cents * wanted[f.SKU] // cannot overflow: no shelf is worth that much
		amounts = append(amounts, wanted[f.SKU])
	}
	if _, err := tx.Exec(ctx, takeSQL, skus, amounts); err != nil {
		return Hold{}, fmt.Errorf("take from the shelves: %w", err)
	}
	if _, err := tx.Exec(ctx, moveSQL, run, stepReserve, o.ID, skus, amounts); err != nil {
		return Hold{}, fmt.Errorf("record the reservation: %w", err)
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

// release puts an order's items back.
func release(ctx context.Context, tx pgx.Tx, run string, o Order) error {
	wanted, err := quantities(o)
	if err != nil {
		return err
	}
	skus, back := slices.Sorted(maps.Keys(wanted)), make([]int64, 0, len(wanted))
	for _, sku := range skus {
		back = append(back, -wanted[sku])
	}
	if _, err := tx.Exec(ctx, shelfSQL, skus); err != nil {
		return fmt.Errorf("lock the shelves: %w", err)
	}
	if _, err := tx.Exec(ctx, takeSQL, skus, back); err != nil {
		return fmt.Errorf("put back: %w", err)
	}
	if _, err := tx.Exec(ctx, moveSQL, run, stepRelease, o.ID, skus, back); err != nil {
		return fmt.Errorf("record the release: %w", err)
	}
	return nil
}

const chargeSQL = `insert into shop.charges (run, step, order_id, card, cents) values ($1, $2, $3, $4, $5)`

const spendSQL = `
insert into shop.cards (card, spent) values ($1, $2) on conflict (card) do update set spent = cards.spent + excluded.spent`

// book writes an amount to a card's account; a refund is a negative one.
func book(ctx context.Context, tx pgx.Tx, run, step string, o Order, cents int64) error {
	if _, err := tx.Exec(ctx, chargeSQL, run, step, o.ID, o.Card, cents); err != nil {
		return fmt.Errorf("record the %s: %w", step, err)
	}
	if _, err := tx.Exec(ctx, spendSQL, o.Card, cents); err != nil {
		return fmt.Errorf("%s card %s: %w", step, o.Card, err)
	}
	return nil
}

// bank decides about cards. It remembers declines on its own connection: the shop's transaction is rolled
// back by a decline, the bank's memory is not.
type bank struct{ pool *pgxpool.Pool }

// declinesMax is how often the bank says no before it means it.
const declinesMax = 4

const declinedSQL = `select count(*) from shop.declines where order_id = $1`

const declineSQL = `insert into shop.declines (order_id, card) values ($1, $2)`

// thinkMin and thinkMax are how long the bank looks at a card.
const (
	thinkMin = 20 * time.Millisecond
	thinkMax = 120 * time.Millisecond
)

// authorize asks for the customer's money. Cards named flakyN decline N times and then pass, empty ones always decline.
func (b *bank) authorize(ctx context.Context, o Order) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(thinkMin + time.Duration(rand.Int64N(int64(thinkMax-thinkMin)))):
	}
	temper, _, _ := strings.Cut(o.Card, "-")
	if temper == "stolen" {
		return reject(outcomeStolen, "card %s", o.Card)
	}
	times, flaky := strings.CutPrefix(temper, "flaky")
	if !flaky && temper != "empty" {
		return nil
	}
	var before int
	if err := b.pool.QueryRow(ctx, declinedSQL, o.ID).Scan(&before); err != nil {
		return fmt.Errorf("ask the bank: %w", err)
	}
	if n, err := strconv.Atoi(times); flaky && err == nil && before >= n {
		return nil
	}
	if before >= declinesMax {
		return reject(outcomeDeclined, "card %s, %d times", o.Card, before)
	}
	if _, err := b.pool.Exec(ctx, declineSQL, o.ID, o.Card); err != nil {
		return fmt.Errorf("note the decline: %w", err)
	}
	return fmt.Errorf("card %s was declined", o.Card)
}

const requestSQL = `insert into shop.requests (run, step, order_id, cents) values ($1, $2, $3, $4)`

// request asks the desk for an approval.
func request(ctx context.Context, tx pgx.Tx, run string, o Order, cents int64) error {
	if _, err := tx.Exec(ctx, requestSQL, run, stepRequest, o.ID, cents); err != nil {
		return fmt.Errorf("request an approval: %w", err)
	}
	return nil
}

const receiptSQL = `insert into shop.receipts (run, step, order_id, cents, tracking) values ($1, $2, $3, $4, $5)`

// issue writes the receipt; it fails for good if the customer's mail bounces.
func issue(ctx context.Context, tx pgx.Tx, run string, o Order, r Receipt) error {
	if _, err := tx.Exec(ctx, receiptSQL, run, stepReceipt, o.ID, r.Cents, r.Tracking); err != nil {
		return fmt.Errorf("write the receipt: %w", err)
	}
	if strings.HasPrefix(o.Email, "bounce@") {
		return reject(outcomeBounced, "mail to %s", o.Email)
	}
	return nil
}
