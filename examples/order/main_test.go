package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
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
	err := run(t.Context(), dir, 40, "", &out)
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

// TestDashboard: the program serves pages and the orders beside them until it is interrupted.
func TestDashboard(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, t.TempDir(), 20, ":0", w)
		w.CloseWithError(errors.Join(err, io.EOF))
		ended <- err
	}()
	out := bufio.NewScanner(r)
	var root string
	for out.Scan() {
		if at, ok := strings.CutPrefix(out.Text(), "The dashboard is http://127.0.0.1:"); ok {
			root = "http://127.0.0.1:" + at
		}
		if strings.Contains(out.Text(), "until you interrupt") {
			break
		}
	}
	for path, want := range map[string]string{"": "<title>The shop</title>", "api/runs?limit=1": `"workflow":"order.checkout"`, "api/queues": `"order.checkout"`} {
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, root+path, nil)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if !strings.Contains(string(text), want) {
			t.Errorf("%s answers %s", path, text)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	interrupt()
	for out.Scan() { // what it prints in the end
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
