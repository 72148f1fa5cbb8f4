package main

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// ledger is a table of the program's own, in the database of the journal: Postgres or SQLite. What
// takes a tx works in the transaction of a step.
type ledger struct{ db *sql.DB }

// The table has no key that would hide a sale that is entered twice: the tests must see it.
const tableSQL = `create table if not exists ledger (trip text, customer text, cents bigint, night text)`

const (
	enterSQL     = `insert into ledger (trip, customer, cents) values ($1, $2, $3)`
	markSQL      = `update ledger set night = $1 where customer = $2 and night is null`
	totalSQL     = `select coalesce(sum(cents), 0) from ledger where customer = $1 and night = $2`
	customersSQL = `select distinct customer from ledger where night is null order by customer`
)

func (l ledger) enter(ctx context.Context, tx any, t Trip) error {
	return execute(ctx, tx, enterSQL, t.ID, t.Customer, t.Cents)
}

func (l ledger) mark(ctx context.Context, tx any, s Statement) error {
	return execute(ctx, tx, markSQL, s.Night, s.Customer)
}

// execute executes a statement in the transaction of a step, which is a pgx.Tx on Postgres and a
// *sql.Tx on SQLite. A program for one of them names that type instead of any.
func execute(ctx context.Context, tx any, statement string, args ...any) (err error) {
	switch tx := tx.(type) {
	case pgx.Tx:
		_, err = tx.Exec(ctx, statement, args...)
	case *sql.Tx:
		_, err = tx.ExecContext(ctx, statement, args...)
	default:
		err = fmt.Errorf("%T is no transaction of Postgres or SQLite", tx)
	}
	return err
}

func (l ledger) total(ctx context.Context, s Statement) (cents int64, err error) {
	err = l.db.QueryRowContext(ctx, totalSQL, s.Customer, s.Night).Scan(&cents)
	return cents, err
}

// customers are those who have sales that are in no statement.
func (l ledger) customers(ctx context.Context) (names []string, err error) {
	rows, err := l.db.QueryContext(ctx, customersSQL)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}
