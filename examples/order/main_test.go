package main

import (
	"bytes"
	"database/sql"
	"path/filepath"
	"regexp"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestOrder runs the program, runs it again on what it left, and tampers with the books: the audit
// must find that.
func TestOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const honest = `(?m)^32 of 40 orders shipped: 88 pieces, 11109\.40 paid\nthe books balance$`
	for range 2 { // the second time, all orders have ended before
		if out, err := open(t, dir); err != nil || !regexp.MustCompile(honest).MatchString(out) {
			t.Fatalf("%v, printed\n%s", err, out)
		}
	}
	for _, tamper := range []string{
		`update books set cents = cents + 1 where order_id = 'A-0001' and step = 'charge'`,
		`update books set cents = cents - 1 where order_id = 'A-0001' and step = 'charge'`,
		`delete from books where order_id = 'A-0003' and step = 'reserve'`,
		`insert into books select run, step, order_id, 0, 0 from books where step = 'receipt' limit 1`,
		`update books set order_id = 'A-0001' where order_id = 'A-0002' and step = 'reserve'`,
		`delete from books where step = 'refund'`,
	} {
		restore := change(t, dir, tamper)
		if out, err := open(t, dir); err == nil || !regexp.MustCompile(`(?m)^BAD`).MatchString(out) {
			t.Errorf("%s: %v, printed\n%s", tamper, err, out)
		}
		restore()
	}
	if out, err := open(t, dir); err != nil {
		t.Errorf("with the honest books again: %v, printed\n%s", err, out)
	}
}

func open(t *testing.T, dir string) (string, error) {
	var out bytes.Buffer
	err := run(t.Context(), dir, 40, &out)
	return out.String(), err
}

// change executes a statement on the books and returns what brings them back.
func change(t *testing.T, dir, statement string) (restore func()) {
	t.Helper()
	books, err := sql.Open("sqlite", filepath.Join(dir, "reprise.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	exec := func(text string) {
		if _, err := books.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	exec(`create table kept as select * from books`)
	exec(statement)
	return func() {
		exec(`delete from books`)
		exec(`insert into books select * from kept`)
		exec(`drop table kept`)
		books.Close()
	}
}
