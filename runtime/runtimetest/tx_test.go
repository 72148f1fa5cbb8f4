package runtimetest_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/reprise-run/reprise/journal/sqlite" // the driver "sqlite"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// stock is a table of the test's, in a file of its own.
type stock struct {
	e  *runtimetest.Env
	db *sql.DB
}

// newStock opens a database whose transactions are those of the test's steps.
func newStock(e *runtimetest.Env) *stock {
	e.Helper()
	db, err := sql.Open("sqlite", filepath.Join(e.TempDir(), "stock.db")+"?_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)")
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { db.Close() })
	s := &stock{e, db}
	s.exec(`create table moves (what text, amount integer)`)
	s.exec(`create table goods (what text primary key)`)
	s.exec(`create table checked (what text references goods (what) deferrable initially deferred)`)
	runtimetest.TxFrom(e, s.begin)
	return s
}

func (s *stock) begin(ctx context.Context) (*sql.Tx, error) { return s.db.BeginTx(ctx, nil) }

func (s *stock) exec(statement string) {
	s.e.Helper()
	if _, err := s.db.Exec(statement); err != nil {
		s.e.Fatal(err)
	}
}

// move is the body of a step.
func move(what string, amount int) func(context.Context, *sql.Tx) (int, error) {
	return func(ctx context.Context, tx *sql.Tx) (int, error) {
		_, err := tx.ExecContext(ctx, `insert into moves values ($1, $2)`, what, amount)
		return amount, err
	}
}

// want compares the table, in whatever order its rows came.
func (s *stock) want(moves ...string) {
	s.e.Helper()
	rows, err := s.db.Query(`select what || ' ' || amount from moves`)
	if err != nil {
		s.e.Fatal(err)
	}
	defer rows.Close()
	var got []string
	for rows.Next() {
		var move string
		if err := rows.Scan(&move); err != nil {
			s.e.Fatal(err)
		}
		got = append(got, move)
	}
	slices.Sort(got)
	if err := rows.Err(); err != nil || !slices.Equal(got, moves) {
		s.e.Errorf("moved were %q, %v, want %q", got, err, moves)
	}
}

// TestTxFrom: the SQL of steps is there once each, wherever the node crashes.
func TestTxFrom(t *testing.T) {
	t.Parallel()
	repeated := 0
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		s := newStock(e)
		runtimetest.Handle(e, book, func(ctx workflow.Context, amount int) (int, error) {
			later := workflow.StepTxAsync(ctx, "fee", move("fee", 1), nil)
			if _, err := workflow.StepTx(ctx, "out", move("out", -amount), nil); err != nil {
				return 0, err
			}
			if err := workflow.Sleep(ctx, 30*24*time.Hour); err != nil {
				return 0, err
			}
			if _, err := workflow.StepTx(ctx, "in", move("in", amount), nil); err != nil {
				return 0, err
			}
			return later.Get(ctx)
		}, nil)
		a, b := runtimetest.Start(e, book, 5, nil), runtimetest.Start(e, book, 7, nil)
		if got := a.Must() + b.Must(); got != 2 {
			e.Errorf("got %d", got)
		}
		s.want("fee 1", "fee 1", "in 5", "in 7", "out -5", "out -7")
		if e.Effects("fee")+e.Effects("out")+e.Effects("in") > 6 {
			repeated++
		}
	})
	if repeated < 3 {
		t.Errorf("steps were repeated in %d cases", repeated)
	}
}

// TestTxFromAmidBodies: a crash while bodies are at work, who do not look at their contexts, leaves
// nothing of their SQL, and nobody waits for its locks. The bodies of two runs write the same row.
func TestTxFromAmidBodies(t *testing.T) {
	t.Parallel()
	for name, disturb := range map[string]func(*runtimetest.Env){"crash": (*runtimetest.Env).Crash, "restart": (*runtimetest.Env).Restart} {
		t.Run(name, func(t *testing.T) {
			runtimetest.Test(t, func(e *runtimetest.Env) {
				s := newStock(e)
				s.exec(`insert into moves values ('sum', 0)`)
				runtimetest.Handle(e, book, func(ctx workflow.Context, amount int) (int, error) {
					return workflow.StepTx(ctx, "add", func(ctx context.Context, tx *sql.Tx) (int, error) {
						_, err := tx.Exec(`update moves set amount = amount + $1`, amount)
						time.Sleep(time.Hour)
						return amount, err
					}, nil)
				}, nil)
				a, b := runtimetest.Start(e, book, 5, nil), runtimetest.Start(e, book, 7, nil)
				e.Sleep(time.Minute)
				disturb(e)
				a.Must()
				b.Must()
				s.want("sum 12")
				if n := e.Effects("add"); n != 3 {
					e.Errorf("executed %d times, want one more than two", n)
				}
			})
		})
	}
}

// TestTxFromCommitFails: an attempt whose transaction cannot be committed has failed, and follows
// the policy.
func TestTxFromCommitFails(t *testing.T) {
	t.Parallel()
	for _, attempts := range []int{1, 2} {
		runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
			s := newStock(e)
			runtimetest.Handle(e, book, func(ctx workflow.Context, amount int) (int, error) {
				return workflow.StepTx(ctx, "check", func(ctx context.Context, tx *sql.Tx) (int, error) {
					if a, _ := workflow.StepInfo(ctx); a.Attempt > 1 {
						if _, err := tx.Exec(`insert into goods values ('pen')`); err != nil {
							return 0, err
						}
					}
					if _, err := tx.Exec(`insert into checked values ('pen')`); err != nil {
						return 0, err
					}
					return move("pen", amount)(ctx, tx)
				}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: attempts}})
			}, nil)
			_, err := runtimetest.Start(e, book, 5, nil).Result()
			switch {
			case attempts == 2:
				if s.want("pen 5"); err != nil {
					e.Error(err)
				}
			case err == nil || !strings.Contains(err.Error(), `transaction of step "check": cannot commit: `) || !strings.Contains(err.Error(), "FOREIGN KEY"):
				e.Errorf("the run ended with %v", err)
			default:
				s.want()
			}
		})
	}
}

// TestTxFromEndedByBody: a body that ends its transaction has failed for good, whichever way it
// does that and whatever it returns.
func TestTxFromEndedByBody(t *testing.T) {
	t.Parallel()
	end := map[string]func(*sql.Tx){
		"Commit":        func(tx *sql.Tx) { tx.Commit() },
		"Rollback":      func(tx *sql.Tx) { tx.Rollback() },
		"COMMIT":        func(tx *sql.Tx) { tx.Exec("COMMIT") },
		"COMMIT; BEGIN": func(tx *sql.Tx) { tx.Exec("COMMIT; BEGIN") },
		"ROLLBACK":      func(tx *sql.Tx) { tx.Exec("ROLLBACK") },
	}
	ways := map[string]func() error{
		"returns": func() error { return nil },
		"fails":   func() error { return errors.New("after the end") },
		"panics":  func() error { panic("after the end") },
	}
	for how, end := range end {
		for way, result := range ways {
			t.Run(how+" "+way, func(t *testing.T) {
				runtimetest.Test(t, func(e *runtimetest.Env) {
					s := newStock(e)
					runtimetest.Handle(e, book, func(ctx workflow.Context, amount int) (int, error) {
						return workflow.StepTx(ctx, "end", func(ctx context.Context, tx *sql.Tx) (int, error) {
							if _, err := move("pen", amount)(ctx, tx); err != nil {
								return 0, err
							}
							end(tx)
							return amount, result()
						}, nil)
					}, nil)
					_, err := runtimetest.Start(e, book, 5, nil).Result()
					if err == nil || !strings.Contains(err.Error(), `transaction of step "end": the body of the step has ended its transaction`) {
						e.Errorf("the run ended with %v", err)
					}
					if n := len(e.Calls("end")); n != 1 {
						e.Errorf("the step was executed %d times", n)
					}
					if strings.HasPrefix(strings.ToUpper(how), "COMMIT") {
						s.want("pen 5")
					} else {
						s.want()
					}
				})
			})
		}
	}
}

// TestTxFromIsForBodies: what answers in place of a body begins no transaction, and an interceptor
// has that of the body.
func TestTxFromIsForBodies(t *testing.T) {
	t.Parallel()
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		s, begun, done := newStock(e), 0, 0
		e.Node.Intercept = func(ctx context.Context, tx any, body replay.Body) (journal.Payload, error) {
			if _, ok := tx.(*sql.Tx); ok {
				begun++
			}
			return body(ctx, tx)
		}
		runtimetest.Handle(e, book, func(ctx workflow.Context, amount int) (int, error) {
			if _, err := workflow.StepTx(ctx, "faked", move("faked", amount), nil); err != nil {
				return 0, err
			}
			return workflow.StepTx(ctx, "real", move("real", amount), nil)
		}, nil)
		runtimetest.FakeTx(e, "faked", func(_ context.Context, tx *memory.Effects) (int, error) {
			tx.Do(func() { done++ })
			return 3, nil
		})
		e.FailNext("real", errors.New("not now"))
		runtimetest.Start(e, book, 5, nil).Must()
		s.want("real 5")
		if n := e.Effects("real"); begun != n || done != 1 {
			e.Errorf("%d bodies and %d effects for %d executions", begun, done, n)
		}
	})
}

// TestTxFromOfATerminatedRun: a run that somebody terminates leaves nothing of its open transaction,
// be it that the body is at work, or that its turn is on the way to the store.
func TestTxFromOfATerminatedRun(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			s := newStock(e)
			terminate := func(run journal.RunID) {
				if err := e.Client().Terminate(e.Context(), run, "enough"); err != nil {
					e.Error(err)
				}
			}
			runtimetest.Handle(e, book, func(ctx workflow.Context, amount int) (int, error) {
				return workflow.StepTx(ctx, "out", func(ctx context.Context, tx *sql.Tx) (int, error) {
					out, err := move("out", amount)(ctx, tx)
					if a, _ := workflow.StepInfo(ctx); late && amount == 5 {
						terminate(a.Run)
					} else {
						time.Sleep(time.Hour)
					}
					return out, err
				}, nil)
			}, nil)
			run := runtimetest.Start(e, book, 5, nil)
			e.Sleep(time.Minute)
			if !late {
				terminate(run.ID())
			}
			e.Sleep(2 * time.Hour)
			s.want()
			if runtimetest.Start(e, book, 7, nil).Must() != 7 {
				e.Error("the next step had another result")
			}
			s.want("out 7")
		})
	}
}

// TestTxFromWaitsForTheClock: a commit that has to wait for a reader does so by the bubble's clock,
// and others who use the store meanwhile do not stop it.
func TestTxFromWaitsForTheClock(t *testing.T) {
	t.Parallel()
	runtimetest.Test(t, func(e *runtimetest.Env) {
		s := newStock(e)
		s.exec(`insert into moves values ('read', 1)`)
		s.exec(`insert into moves values ('read', 2)`)
		runtimetest.Handle(e, book, func(ctx workflow.Context, amount int) (int, error) {
			return workflow.StepTx(ctx, "out", move("out", amount), nil)
		}, nil)
		e.Client()
		rows, err := s.db.Query(`select what from moves`)
		if err != nil || !rows.Next() {
			e.Fatal(err)
		}
		run := runtimetest.Start(e, book, 5, nil)
		e.After(time.Second, func() { runtimetest.Start(e, book, 7, nil) })
		time.Sleep(3 * time.Second)
		if err := rows.Close(); err != nil {
			e.Fatal(err)
		}
		run.Must()
		if at := e.Elapsed(); at < 3*time.Second || at > time.Minute {
			e.Errorf("committed after %s", at)
		}
		e.Sleep(time.Minute)
		s.want("out 5", "out 7", "read 1", "read 2")
	})
}
