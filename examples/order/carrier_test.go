package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// TestCarrierIsUnreliable calls the carrier until each call passed: it must have shown every mood, and yet no parcel
// went out twice or after its recall.
func TestCarrierIsUnreliable(t *testing.T) {
	t.Parallel()
	pool, err := pgxpool.New(t.Context(), serve(t))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if err := setUp(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	c, err := openCarrier(pool, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	courier := newCourier(c.url)
	defer courier.client.CloseIdleConnections()

	const orders = 20
	for i := range orders {
		o := Order{ID: fmt.Sprintf("C-%d %%/", i), Address: "here"}
		var first string
		for range 2 { // the caller forgets that it was done
			insist(t, func(ctx context.Context) error {
				tracking, err := courier.ship(ctx, "key of "+o.ID, o)
				if err == nil && first != "" && tracking != first {
					t.Errorf("order %s got %s first and then %s", o.ID, first, tracking)
				}
				first = tracking
				return err
			})
		}
		if i%2 == 0 {
			insist(t, func(ctx context.Context) error { return courier.recall(ctx, o) })
			var late error
			insist(t, func(ctx context.Context) error {
				if _, late = courier.ship(ctx, "late key of "+o.ID, o); late != nil && !errors.As(late, new(*Rejection)) {
					return late
				}
				return nil
			})
			if late == nil {
				t.Errorf("order %s was shipped after its recall", o.ID)
			}
		}
	}
	var parcels, recalled int
	if err := pool.QueryRow(t.Context(), "select count(*), count(*) filter (where recalled) from shop.shipments").Scan(&parcels, &recalled); err != nil {
		t.Fatal(err)
	}
	if parcels != orders || recalled != orders/2 {
		t.Errorf("%d parcels of which %d were recalled, want %d and %d", parcels, recalled, orders, orders/2)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for m := moodGood; m <= moodTwice; m++ {
		if c.seen[m] == 0 {
			t.Errorf("mood %d was never met", m)
		}
	}
}

// insist repeats a call until it passes.
func insist(t *testing.T, call func(context.Context) error) {
	t.Helper()
	var err error
	for range 100 {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		err = call(ctx)
		cancel()
		if err == nil {
			return
		}
	}
	t.Fatalf("no call passed: %v", err)
}
