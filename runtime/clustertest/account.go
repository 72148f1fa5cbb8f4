package clustertest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Account creates a table for what transactional steps write, and returns a connection to look at
// it.
func (c *Cluster) Account() *pgx.Conn {
	c.T.Helper()
	conn := c.Connect()
	if _, err := conn.Exec(Context(c.T), `CREATE TABLE account (entry text NOT NULL)`); err != nil {
		c.T.Fatal(err)
	}
	return conn
}

// Enter is a transactional step's work: it writes an entry into the account.
func Enter(ctx context.Context, tx pgx.Tx) (string, error) {
	_, err := tx.Exec(ctx, `INSERT INTO account VALUES ('x')`)
	return "entered", err
}

// Entries counts what is in the account.
func Entries(t testing.TB, conn *pgx.Conn) int {
	t.Helper()
	return Query[int](t, conn, `SELECT count(*) FROM account`)
}
