package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// TestTextForms: a database that writes times or bytes as text in its own form is none of a store's
// business whose sessions are its own, also if answers are text. Behind a pooler, where answers are text, it is refused by a
// sentence that says how to go on, and taken when the role says otherwise.
func TestTextForms(t *testing.T) {
	t.Parallel()
	for setting, good := range map[string]string{"datestyle = 'German, DMY'": "datestyle = 'ISO, DMY'", "bytea_output = 'escape'": "bytea_output = 'hex'"} {
		name, _, _ := strings.Cut(setting, " ")
		dsn := pgtest.New(t)
		conn := connect(t, dsn)
		database := query[string](t, conn, `SELECT current_database()`)
		set := func(setting string) {
			t.Helper()
			mustExec(t, conn, fmt.Sprintf("ALTER DATABASE %s SET %s", database, setting))
		}
		set(setting)
		used := func(o *postgres.Options) {
			t.Helper()
			s, err := postgres.Open(t.Context(), dsn, o)
			if err != nil {
				t.Errorf("with %s: %v", setting, err)
				return
			}
			defer s.Close()
			st := journal.Start{ID: journal.NewRunID(), Workflow: "flow", Input: journal.Payload{Encoding: "x", Data: []byte{0, 200, '\\', '"'}}}
			start(t, driver.New(s, nil), st)
			h, err := s.Load(t.Context(), []driver.LoadRequest{{Run: st.ID}})
			if err != nil || string(h[0].Run.Input.Data) != string(st.Input.Data) || time.Since(h[0].Run.CreatedAt).Abs() > time.Hour {
				t.Errorf("with %s: %+v, %v", setting, h, err)
			}
		}
		used(nil)
		used(&postgres.Options{Unprepared: true})
		_, err := postgres.Open(t.Context(), dsn, &postgres.Options{Pooler: true})
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "ALTER ROLE") {
			t.Errorf("behind a pooler with %s: %v", setting, err)
		}
		set(good)
		used(&postgres.Options{Pooler: true})
	}
}
