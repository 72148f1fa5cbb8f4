package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// carrierSQL is the carrier's own book. Shipments are known by the idempotency key that came with
// the request, so a request that comes again finds what it did before.
const carrierSQL = `
create table if not exists carrier_shipments (
  key text primary key, order_id text not null, tracking text not null, calls bigint not null default 1,
  recalled boolean not null default false);
create index if not exists carrier_shipments_order on carrier_shipments (order_id);
create table if not exists carrier_recalls (order_id text primary key, calls bigint not null default 1);`

// carrier ships parcels over HTTP and cannot be trusted: it fails before or after the work, hangs,
// answers busy, or answers twice. A step that calls it is executed at least once; the idempotency
// key makes the parcel exactly one.
type carrier struct {
	book     tables
	server   *http.Server
	url      string
	done     chan struct{} // closed when the server has ended
	closing  context.Context
	close    context.CancelFunc
	handlers sync.WaitGroup

	mu    sync.Mutex
	moods *rand.Rand     // guarded by mu
	seen  map[mood]int64 // guarded by mu
}

// mood is what the carrier does with one request.
type mood int

const (
	moodGood      mood = iota
	moodFail           // 500, nothing done
	moodFailAfter      // 500, though the parcel is on its way
	moodHang           // no answer, nothing done
	moodHangAfter      // no answer, though the parcel is on its way
	moodBusy           // 503 with Retry-After
	moodTwice          // the same answer twice
)

const (
	goodPercent       = 60 // of the requests
	workMin           = 50 * time.Millisecond
	workMax           = 350 * time.Millisecond
	hangMax           = 3 * time.Second
	retryAfterSeconds = 1
)

// parcel is a request to ship, and label the answer.
type parcel struct {
	Order   string `json:"order"`
	Address string `json:"address"`
}

type label struct {
	Key      string `json:"key"`
	Order    string `json:"order"`
	Tracking string `json:"tracking"`
}

// openCarrier listens on the loopback interface.
func openCarrier(book tables, seed uint64) (*carrier, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("carrier: %w", err)
	}
	closing, cancel := context.WithCancel(context.Background())
	c := &carrier{
		book: book, url: "http://" + listener.Addr().String(), done: make(chan struct{}), closing: closing, close: cancel,
		moods: rand.New(rand.NewPCG(seed, 1)), seen: map[mood]int64{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /shipments", c.moody(c.ship))
	mux.HandleFunc("DELETE /orders/{order}", c.moody(c.recall))
	c.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, BaseContext: func(net.Listener) context.Context { return closing }}
	go func() {
		defer close(c.done)
		_ = c.server.Serve(listener) // ends with ErrServerClosed
	}()
	return c, nil
}

// Close ends the server and waits for its requests.
func (c *carrier) Close() {
	c.close()
	_ = c.server.Close()
	<-c.done
	c.handlers.Wait()
}

func (c *carrier) mood() mood {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := moodGood
	if c.moods.IntN(100) >= goodPercent {
		m = moodFail + mood(c.moods.IntN(int(moodTwice)))
	}
	c.seen[m]++
	return m
}

// work does what a request asks for and returns the answer's status and body.
type work func(r *http.Request) (int, any)

// moody lets a mood decide what becomes of a request and its answer.
func (c *carrier) moody(do work) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c.handlers.Add(1)
		defer c.handlers.Done()
		m := c.mood()
		switch m {
		case moodFail:
			http.Error(w, "out of petrol", http.StatusInternalServerError)
			return
		case moodHang:
			c.hang(r)
			return
		case moodBusy:
			w.Header().Set("Retry-After", strconv.Itoa(retryAfterSeconds))
			http.Error(w, "come back later", http.StatusServiceUnavailable)
			return
		}
		c.toil()
		status, body := do(r)
		switch {
		case status == http.StatusOK && m == moodFailAfter:
			http.Error(w, "lost the papers", http.StatusInternalServerError)
		case status == http.StatusOK && m == moodHangAfter:
			c.hang(r)
		default:
			answer(w, status, body, m == moodTwice)
		}
	}
}

// toil takes the time that a parcel takes.
func (c *carrier) toil() {
	select {
	case <-c.closing.Done():
	case <-time.After(workMin + time.Duration(rand.Int64N(int64(workMax-workMin)))):
	}
}

// hang keeps the caller waiting until it gives up, then drops the connection without an answer.
func (c *carrier) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-c.closing.Done():
	case <-time.After(hangMax):
	}
	panic(http.ErrAbortHandler)
}

// answer writes a response, or the same response twice on the wire: the second one may then be
// taken for the answer to the connection's next request.
func answer(w http.ResponseWriter, status int, body any, twice bool) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // labels and strings can be encoded
	}
	if !twice {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(text) // the caller may be gone
		return
	}
	conn, buffer, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer conn.Close()
	for range 2 {
		fmt.Fprintf(buffer, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			status, http.StatusText(status), len(text), text)
	}
	_ = buffer.Flush()
}

const recalledSQL = `select count(*) from carrier_recalls where order_id = $1`

const shipSQL = `
insert into carrier_shipments (key, order_id, tracking) values ($1, $2, $3)
on conflict (key) do update set calls = carrier_shipments.calls + 1
returning tracking`

func (c *carrier) ship(r *http.Request) (int, any) {
	var p parcel
	key := r.Header.Get("Idempotency-Key")
	if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 1<<16)).Decode(&p); err != nil || key == "" {
		return http.StatusBadRequest, "a parcel and an Idempotency-Key, please"
	}
	if p.Address == "Nowhere 0" {
		return http.StatusUnprocessableEntity, "no such address"
	}
	l := label{Key: key, Order: p.Order}
	recalled := 0
	err := c.record(p.Order, func(ctx context.Context, q queries) error {
		if _, err := one(ctx, q, recalledSQL, []any{p.Order}, &recalled); err != nil || recalled > 0 {
			return err
		}
		_, err := one(ctx, q, shipSQL, []any{key, p.Order, fmt.Sprintf("TN%016X", rand.Uint64())}, &l.Tracking)
		return err
	})
	switch {
	case err != nil:
		return http.StatusInternalServerError, "the book is closed"
	case recalled > 0:
		return http.StatusGone, "the order was recalled"
	}
	return http.StatusOK, l
}

const noteRecallSQL = `
insert into carrier_recalls (order_id) values ($1) on conflict (order_id) do update set calls = carrier_recalls.calls + 1`

const recallSQL = `update carrier_shipments set recalled = true where order_id = $1`

func (c *carrier) recall(r *http.Request) (int, any) {
	order := r.PathValue("order")
	err := c.record(order, func(ctx context.Context, q queries) error {
		if _, err := q.exec(ctx, noteRecallSQL, order); err != nil {
			return err
		}
		_, err := q.exec(ctx, recallSQL, order)
		return err
	})
	if err != nil {
		return http.StatusInternalServerError, "the book is closed"
	}
	return http.StatusOK, label{Order: order}
}

// record writes into the book. It goes on when the caller hangs up: a real carrier would, too. One
// request of an order at a time works: a parcel that is being sent and its recall must not miss
// each other.
func (c *carrier) record(order string, fn func(context.Context, queries) error) error {
	ctx, cancel := context.WithTimeout(c.closing, 5*time.Second)
	defer cancel()
	return c.book.inTx(ctx, "carrier:"+order, func(q queries) error { return fn(ctx, q) })
}

// tempers says how often the carrier misbehaved.
func (c *carrier) tempers() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprintf("%d good answers, %d doubled, %d failures (%d after the work), %d hangs (%d after the work), %d times busy",
		c.seen[moodGood], c.seen[moodTwice], c.seen[moodFail]+c.seen[moodFailAfter], c.seen[moodFailAfter],
		c.seen[moodHang]+c.seen[moodHangAfter], c.seen[moodHangAfter], c.seen[moodBusy])
}

var errAnswer = errors.New("carrier gave somebody else's answer")
