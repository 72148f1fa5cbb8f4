package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/sqlite"
)

// otherDatabase is a file beside a store's, with a table of the user's.
type otherDatabase struct {
	t  *testing.T
	d  *sqlite.Database
	db *sql.DB
}

func newOtherDatabase(t *testing.T) *otherDatabase {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "other.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	o := &otherDatabase{t: t, db: db}
	o.exec("CREATE TABLE effects (what TEXT)")
	for range 2 { // the table is there the second time
		if o.d, err = sqlite.OpenDatabase(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func (o *otherDatabase) exec(text string) {
	o.t.Helper()
	if _, err := o.db.Exec(text); err != nil {
		o.t.Fatal(err)
	}
}

func (o *otherDatabase) once(key string, do func(tx *sql.Tx) error) (journal.Payload, error) {
	return o.d.Once(o.t.Context(), key, func(ctx context.Context, tx *sql.Tx) (journal.Payload, error) {
		if _, err := tx.ExecContext(ctx, "INSERT INTO effects VALUES (?)", key); err != nil {
			return journal.Payload{}, err
		}
		return journal.Payload{Encoding: "json", Data: []byte(key)}, do(tx)
	})
}

func (o *otherDatabase) want(effects, rows int) {
	o.t.Helper()
	var n, m int
	if err := o.db.QueryRow("SELECT (SELECT count(*) FROM effects), (SELECT count(*) FROM reprise_steps)").Scan(&n, &m); err != nil {
		o.t.Fatal(err)
	}
	if n != effects || m != rows {
		o.t.Errorf("%d effects and %d rows, want %d and %d", n, m, effects, rows)
	}
}

// A body in another file has its effect once: what it returned is kept with it.
func TestDatabaseKeepsWhatAStepReturned(t *testing.T) {
	t.Parallel()
	o := newOtherDatabase(t)
	refused := errors.New("refused")
	if _, err := o.once("a", func(*sql.Tx) error { return refused }); !errors.Is(err, refused) {
		t.Fatal(err)
	}
	o.want(0, 0)
	for range 2 {
		out, err := o.once("a", func(*sql.Tx) error { return nil })
		if err != nil || out.Encoding != "json" || string(out.Data) != "a" {
			t.Errorf("got %+v, %v", out, err)
		}
		o.want(1, 1)
	}
	n, err := o.d.Forget(t.Context(), time.Now().Add(-time.Hour))
	if err != nil || n != 0 {
		t.Errorf("forgot %d of the last hour: %v", n, err)
	}
	if n, err = o.d.Forget(t.Context(), time.Now().Add(time.Hour)); err != nil || n != 1 {
		t.Errorf("forgot %d: %v", n, err)
	}
}

// What a body does to its transaction in another file does not repeat its effect.
func TestDatabaseWhoseBodyEndsItsTransaction(t *testing.T) {
	t.Parallel()
	o := newOtherDatabase(t)
	ends := map[string]func(tx *sql.Tx) error{
		"commit":   (*sql.Tx).Commit,
		"rollback": (*sql.Tx).Rollback,
		"ROLLBACK": func(tx *sql.Tx) error { _, err := tx.Exec("ROLLBACK"); return err },
	}
	for name, end := range ends {
		_, err := o.once(name, end)
		if ended, ok := errors.AsType[*driver.TxEndedError](err); !ok || !ended.Permanent() {
			t.Errorf("%s: %v", name, err)
		}
	}
	o.want(1, 1)
	if _, err := o.once("commit", func(*sql.Tx) error { return nil }); !errors.Is(err, journal.ErrTxLost) {
		t.Errorf("the next attempt: %v", err)
	}
	for range 2 { // its answer is an error, and the next attempt finds what is kept
		out, err := o.once("COMMIT", func(tx *sql.Tx) error { _, err := tx.Exec("COMMIT"); return err })
		if err == nil && string(out.Data) != "COMMIT" {
			t.Errorf("COMMIT: %+v", out)
		}
	}
	o.want(2, 2)
}
