package runtimetest_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// oneStep runs a workflow of one step, "enter", that works in a transaction.
func oneStep[Tx any](e *runtimetest.Env, body func(context.Context, Tx) (int, error)) {
	runtimetest.Handle(e, book, func(ctx workflow.Context, _ int) (int, error) {
		return workflow.StepTx(ctx, "enter", body, nil)
	}, nil)
	runtimetest.Start(e, book, 1, nil).Must()
}

// noBody is a body that must not be called.
func noBody[Tx any](context.Context, Tx) (int, error) { panic("the body was called") }

func init() {
	for name, p := range map[string]struct {
		test func(e *runtimetest.Env)
		want []string
	}{
		"an effect that bodies commit themselves": {func(e *runtimetest.Env) {
			newStock(e)
			oneStep(e, func(ctx context.Context, tx *sql.Tx) (int, error) { return 1, tx.Commit() })
		}, []string{`transaction of step "enter": the body of the step has ended its transaction`, "leave the end of the transaction to the engine"}},
		"a body that waits for another one's transaction": {func(e *runtimetest.Env) {
			newStock(e)
			runtimetest.Handle(e, book, func(ctx workflow.Context, _ int) (int, error) {
				return workflow.StepTx(ctx, "enter", func(ctx context.Context, _ *sql.Tx) (int, error) { return 1, pause(ctx, time.Hour) }, nil)
			}, nil)
			first := runtimetest.Start(e, book, 1, nil)
			runtimetest.Start(e, book, 1, nil).Must()
			first.Must()
			e.Error("this is no answer")
		}, []string{"a step waits for its transaction to begin", `limit="runtimetest.TxFrom=1"`}},
		"a begin that is nil": {func(e *runtimetest.Env) {
			runtimetest.TxFrom[*sql.Tx](e, nil)
		}, []string{"tx_planted_test.go", "TxFrom: begin is nil: give it a function that begins"}},
		"two sorts of transactions": {func(e *runtimetest.Env) {
			runtimetest.TxFrom(e, newStock(e).begin)
		}, []string{"tx_planted_test.go", "TxFrom is called twice: the steps of a test work in transactions of one database"}},
		"late transactions": {func(e *runtimetest.Env) {
			oneStep(e, func(context.Context, any) (int, error) { return 1, nil })
			newStock(e)
		}, []string{"tx_planted_test.go", "TxFrom must be called before the first run is started"}},
		"a begin that fails": {func(e *runtimetest.Env) {
			runtimetest.TxFrom(e, func(context.Context) (*sql.Tx, error) { return nil, errors.New("no route") })
			oneStep(e, noBody[*sql.Tx])
		}, []string{`transaction of step "enter": cannot begin: no route (open the database in the function of the test, and close it by Env.Cleanup)`}},
		"a begin that returns nothing": {func(e *runtimetest.Env) {
			runtimetest.TxFrom(e, func(context.Context) (*sql.Tx, error) { return nil, nil })
			oneStep(e, noBody[*sql.Tx])
		}, []string{`transaction of step "enter": what TxFrom was given returned nil for a transaction, and no error`}},
		"a begin that returns no interface": {func(e *runtimetest.Env) {
			runtimetest.TxFrom(e, func(context.Context) (any, error) { return nil, nil })
			oneStep(e, noBody[any])
		}, []string{`transaction of step "enter": what TxFrom was given returned nil for a transaction, and no error`}},
		"a begin that panics": {func(e *runtimetest.Env) {
			runtimetest.TxFrom(e, func(context.Context) (*sql.Tx, error) { panic("no driver") })
			oneStep(e, noBody[*sql.Tx])
		}, []string{`transaction of step "enter": what TxFrom was given panicked: no driver`, "tx_planted_test.go"}},
		"a begin that gives up": {func(e *runtimetest.Env) {
			runtimetest.TxFrom(e, func(context.Context) (*sql.Tx, error) { e.Fatal("no file"); return nil, nil })
			oneStep(e, noBody[*sql.Tx])
		}, []string{"no file", `transaction of step "enter": what TxFrom was given ended its goroutine: it must return its error`}},
		"a transaction that cannot be committed": {func(e *runtimetest.Env) {
			runtimetest.TxFrom(e, func(context.Context) (string, error) { return "tx", nil })
			oneStep(e, noBody[string])
		}, []string{`transaction of step "enter": what TxFrom was given returned a string, which cannot be committed: it needs the methods Commit and Rollback`}},
		"a transaction without savepoints": {func(e *runtimetest.Env) {
			n := &notebook{e: e}
			runtimetest.TxFrom(e, func(ctx context.Context) (sealedPage, error) { return sealedPage{&page{book: n, life: ctx}}, nil })
			oneStep(e, noBody[sealedPage])
		}, []string{`transaction of step "enter": cannot begin: SAVEPOINT reprise_step: it is sealed`, "the page is thrown away"}},
		"a body for another database": {func(e *runtimetest.Env) {
			newStock(e)
			oneStep(e, noBody[pgx.Tx])
		}, []string{`step "enter" works in a transaction of type pgx.Tx, the store's is *sql.Tx: its function must take what the store has`}},
		"a body for a database that is not there": {func(e *runtimetest.Env) {
			oneStep(e, noBody[pgx.Tx])
		}, []string{`step "enter" works in a transaction of type pgx.Tx, the store's is *memory.Effects`, "in a test, what TxFrom of package runtimetest gives"}},
	} {
		if _, ok := planted[name]; ok {
			panic("two planted bugs are called " + name)
		}
		bug := planted[name]
		bug.test, bug.want = func(t *testing.T) { runtimetest.Test(t, p.test) }, p.want
		bug.lack = []string{"has not ended after", "the body was called"}
		planted[name] = bug
	}
}
