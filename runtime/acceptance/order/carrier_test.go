package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// TestCarrierIsUnreliable calls the carrier until each call passed: it must have shown every mood,
// and yet no parcel went out twice or after its recall.
func TestCarrierIsUnreliable(t *testing.T) {
	t.Parallel()
	book, err := openLiteTables(filepath.Join(t.TempDir(), outsideFile))
	if err != nil {
		t.Fatal(err)
	}
	defer book.close()
	if err := create(t.Context(), book, carrierSQL); err != nil {
		t.Fatal(err)
	}
	c, err := openCarrier(book, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	courier := newCourier(c.url)
	defer courier.client.CloseIdleConnections()

	const orders = 20
	var senders sync.WaitGroup
	for i := range orders {
		senders.Go(func() {
			if err := shipTwice(t.Context(), courier, Order{ID: fmt.Sprintf("C-%d %%/", i), Address: "here"}, i%2 == 0); err != nil {
				t.Error(err)
			}
		})
	}
	senders.Wait()
	var parcels, recalled int
	_, err = one(t.Context(), book, "select count(*), count(*) filter (where recalled) from carrier_shipments", nil, &parcels, &recalled)
	if err != nil {
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

// shipTwice ships as a caller does that forgets that it was done, and maybe recalls and tries once
// more.
func shipTwice(ctx context.Context, c *courier, o Order, recall bool) error {
	var numbers [2]string
	for i := range numbers {
		err := insist(ctx, func(ctx context.Context) (err error) {
			numbers[i], err = c.ship(ctx, "key of "+o.ID, o)
			return err
		})
		if err != nil {
			return err
		}
	}
	if numbers[0] != numbers[1] {
		return fmt.Errorf("order %s got %q", o.ID, numbers)
	}
	if !recall {
		return nil
	}
	if err := insist(ctx, func(ctx context.Context) error { return c.recall(ctx, o) }); err != nil {
		return err
	}
	return insist(ctx, func(ctx context.Context) error {
		_, err := c.ship(ctx, "late key of "+o.ID, o)
		if errors.As(err, new(*Rejection)) {
			return nil
		}
		return cmp.Or(err, errors.New("shipped after its recall"))
	})
}

// insist repeats a call until it passes.
func insist(ctx context.Context, call func(context.Context) error) error {
	var err error
	for range 20 {
		attempt, cancel := context.WithTimeout(ctx, time.Second)
		err = call(attempt)
		cancel()
		if err == nil {
			return nil
		}
	}
	return fmt.Errorf("no call passed: %w", err)
}
