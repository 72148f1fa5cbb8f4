package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/replaytest"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// These tests execute the workflows on the real engine, in memory and in virtual time: days pass in
// milliseconds. Partners are in memory too. The ledger is real: its SQL is executed in a SQLite file.

var record = flag.Bool("record", false, "keep the histories of the tests that have none")

// world is an agency with partners in memory and a ledger in a file. The transactions of the steps
// are those of the file, which the kit commits with the steps; for a pgx pool it is pool.Begin.
func world(e *runtimetest.Env) (*partners, ledger) {
	e.Helper()
	db, err := sql.Open("sqlite", filepath.Join(e.TempDir(), "trips.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { db.Close() })
	if _, err := db.Exec(tableSQL); err != nil {
		e.Fatal(err)
	}
	runtimetest.TxFrom(e, func(ctx context.Context) (*sql.Tx, error) { return db.BeginTx(ctx, nil) })

	p, l := &partners{booked: map[string]bool{}}, ledger{db}
	a := &agency{ask: func(_ context.Context, method, path string) error { return p.do(method, path) }, ledger: l}
	runtimetest.Handle(e, BookTrip, a.trip, nil)
	runtimetest.Handle(e, EveryNight, a.night, nil)
	runtimetest.Handle(e, Settle, a.settle, nil)
	return p, l
}

// wantEntered compares the number of rows in the ledger.
func wantEntered(e *runtimetest.Env, l ledger, want int) {
	e.Helper()
	var rows int
	if err := l.db.QueryRow(`select count(*) from ledger`).Scan(&rows); err != nil || rows != want {
		e.Errorf("%d trips were entered, %v, want %d", rows, err, want)
	}
}

func book(e *runtimetest.Env, id string, cents int64) *runtimetest.Run[Receipt] {
	trip := Trip{ID: id, Customer: "ann", Cents: cents, Patience: 24 * time.Hour}
	return runtimetest.Start(e, BookTrip, trip, &runtime.StartOptions{Key: "trip:" + id})
}

func wantBooked(e *runtimetest.Env, p *partners, want ...string) {
	e.Helper()
	if got := slices.Sorted(maps.Keys(p.booked)); !slices.Equal(got, want) {
		e.Errorf("booked is %q, want %q", got, want)
	}
}

// TestApproved: wherever the process is killed, the trip is in the ledger once.
func TestApproved(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		p, l := world(e)
		e.FailNext("book hotel", errors.New("the line is dead")) // a retry gets over it
		run := book(e, "rome", expensive)
		e.After(20*time.Hour, func() { runtimetest.Signal(e, run.ID(), Decided, Decision{By: "bob", OK: true}, nil) })
		if r := run.Must(); r.ApprovedBy != "bob" {
			e.Errorf("the receipt is %+v", r)
		}
		wantBooked(e, p, "flight/rome", "hotel/rome")
		wantEntered(e, l, 1)
		keep(e, run.ID(), "approved")
	})
}

// TestNobodyApproves: the flight and the hotel are cancelled, newest first.
func TestNobodyApproves(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		p, _ := world(e)
		run := book(e, "rome", expensive)
		e.Sleep(time.Hour)
		if got := runtimetest.Query(e, run.ID(), Status, struct{}{}); got != "waiting for an approval" {
			e.Errorf("the status is %q", got)
		}
		if _, err := run.Result(); err == nil || !strings.Contains(err.Error(), "nobody approved") {
			e.Errorf("the trip ended with %v", err)
		}
		wantBooked(e, p)
		e.WantHistory(run.ID(), `
			1 RunStarted > step book flight
			2 StepCompleted book flight > step book hotel
			3 StepCompleted book hotel > timer trip.decided
			4 TimerFired trip.decided > step cancel hotel
			5 StepCompleted cancel hotel > step cancel flight
			6 StepCompleted cancel flight
			7 RunFailed: nobody approved the trip in time
		`)
		keep(e, run.ID(), "nobody")
	})
}

func TestNoRoom(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		p, l := world(e)
		e.FailNext("book hotel", workflow.Permanent(errFull))
		run := book(e, "oslo", 1)
		if _, err := run.Result(); err == nil {
			e.Error("a trip without a room was booked")
		}
		wantBooked(e, p)
		wantEntered(e, l, 0)
		keep(e, run.ID(), "no-room")
	})
}

// TestNights: trips of two days are in the statements of two nights, once each.
func TestNights(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		p, _ := world(e)
		night := runtimetest.Start(e, EveryNight, Night{Every: 24 * time.Hour}, nil)
		for _, id := range []string{"rome", "oslo", "bonn"} {
			book(e, id, 100).Must()
			e.Sleep(15 * time.Hour)
		}
		e.Sleep(12 * time.Hour)
		for _, want := range []string{"statement/ann/2000-01-02T00:00:00Z/200", "statement/ann/2000-01-03T00:00:00Z/100"} {
			if !p.booked[want] {
				e.Errorf("nobody was sent %s, only %q", want, slices.Sorted(maps.Keys(p.booked)))
			}
		}
		for i, h := range e.Generations(night.ID())[:2] {
			keepHistory(e, h, []string{"first-night", "second-night"}[i])
		}
		e.Cancel(night.ID(), "the agency closes")
		if _, err := night.Result(); err == nil {
			e.Error("the nights went on")
		}
	})
}

// TestANightComesOnce: where the clock is behind the end of the night before, that night is over.
func TestANightComesOnce(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		p, _ := world(e)
		last := time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC) // in 24 hours, by the test's clock
		night := runtimetest.Start(e, EveryNight, Night{Every: 24 * time.Hour, Last: last}, nil)
		book(e, "rome", 100).Must()
		e.Sleep(60 * time.Hour)
		if p.booked["statement/ann/2000-01-02T00:00:00Z/100"] || !p.booked["statement/ann/2000-01-03T00:00:00Z/100"] {
			e.Errorf("sent are %q", slices.Sorted(maps.Keys(p.booked)))
		}
		e.Cancel(night.ID(), "the agency closes")
		if _, err := night.Result(); err == nil {
			e.Error("the nights went on")
		}
	})
}

func keep(e *runtimetest.Env, run journal.RunID, name string) { keepHistory(e, e.History(run), name) }

func keepHistory(e *runtimetest.Env, h *replaytest.History, name string) {
	if *record {
		if _, err := replaytest.Keep("testdata/histories/"+name+".json", h); err != nil {
			e.Error(err)
		}
	}
}

// TestHistories: the code continues runs that an earlier deployment has started.
func TestHistories(t *testing.T) {
	a := &agency{ledger: ledger{}} // no step is executed
	var code replaytest.Registry
	replaytest.Handle(&code, BookTrip, a.trip, nil)
	replaytest.Handle(&code, EveryNight, a.night, nil)
	replaytest.Golden(t, &code, "testdata/histories")
}
