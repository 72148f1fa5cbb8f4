package sqlite

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// What is about the file is about no member of a batch, whatever the call was: nothing is written,
// the error says what to do, callers repeat the call, and it works when somebody has mended the
// file.
func TestFaultsOfTheFileAreNobodys(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		away, back func(t *testing.T, s *Store)
		says       string
		reads      bool // whether reads go on
	}{
		"a table is renamed": {
			func(t *testing.T, s *Store) { elsewhere(t, s, `ALTER TABLE reprise_events RENAME TO away`) },
			func(t *testing.T, s *Store) { elsewhere(t, s, `ALTER TABLE away RENAME TO reprise_events`) }, "bring them back", false},
		"a column is renamed": {
			func(t *testing.T, s *Store) {
				elsewhere(t, s, `ALTER TABLE reprise_events RENAME COLUMN link TO chain`)
			},
			func(t *testing.T, s *Store) {
				elsewhere(t, s, `ALTER TABLE reprise_events RENAME COLUMN chain TO link`)
			}, "bring them back", false},
		"the file is replaced": {
			func(t *testing.T, s *Store) {
				rename(t, s.path, s.path+".old")
				if err := os.WriteFile(s.path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			},
			func(t *testing.T, s *Store) { rename(t, s.path+".old", s.path) }, "put the one back", true},
		"the file is removed": {
			func(t *testing.T, s *Store) { rename(t, s.path, s.path+".old") },
			func(t *testing.T, s *Store) { rename(t, s.path+".old", s.path) }, "put it back", true},
		"the file is read-only": {
			func(t *testing.T, s *Store) { script(t, s, `PRAGMA query_only = on`) },
			func(t *testing.T, s *Store) { script(t, s, `PRAGMA query_only = off`) }, "give this program the right", true},
	} {
		t.Run(what, func(t *testing.T) {
			f := newFamily(t, openHere(t))
			batch := []driver.Commit{f.run(), f.run(), f.run()}
			before := f.rows(batch[0].Run)
			c.away(t, f.s)
			out, err := f.s.Commit(t.Context(), batch)
			if !errors.Is(err, journal.ErrUnavailable) || !errors.Is(err, driver.ErrLasting) || !strings.Contains(err.Error(), c.says) ||
				!strings.Contains(err.Error(), f.s.path) {
				t.Errorf("commit: %d outcomes, %v", len(out), err)
			}
			_, err = f.s.Load(t.Context(), []driver.LoadRequest{{Run: batch[0].Run}})
			if c.reads && err != nil || !c.reads && !errors.Is(err, journal.ErrUnavailable) {
				t.Errorf("load: %v", err)
			}
			c.back(t, f.s)
			if got := f.rows(batch[0].Run); !slices.Equal(got, before) {
				t.Error("the run has changed")
			}
			for _, c := range batch {
				f.accepted(c)
			}
		})
	}
}

// elsewhere runs a statement as another program does, on its own connection.
func elsewhere(t *testing.T, s *Store, text string) {
	t.Helper()
	c, err := dial(s.path, "rw", "busy_timeout = 5000", "legacy_alter_table = on")
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if err := c.script(text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// A call that meets a damaged page fails alone, whatever is written in the same transaction: SQLite
// would write nothing more in it.
func TestDamageHindersNoOtherCall(t *testing.T) {
	t.Parallel()
	s := openHere(t)
	var starts []journal.Start
	for range 200 {
		st := startOf("good")
		st.Input.Data = []byte(strings.Repeat("1", 2000))
		starts = append(starts, st)
	}
	if _, err := s.Start(t.Context(), nil, starts); err != nil {
		t.Fatal(err)
	}
	var page int64
	err := s.read(t.Context(), func(c *conn) (err error) {
		page, err = c.queryInt(`SELECT pageno FROM dbstat WHERE name = 'reprise_runs' AND pagetype = 'leaf' ORDER BY path LIMIT 1 OFFSET 2`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	f, err := os.OpenFile(s.path, os.O_RDWR, 0)
	if err == nil {
		_, err = f.WriteAt([]byte(strings.Repeat("\xee", 4096)), (page-1)*4096)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), s.path, nil); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	at := slices.IndexFunc(starts, func(st journal.Start) bool {
		list, err := s.Load(t.Context(), []driver.LoadRequest{{Run: st.ID}})
		return err == nil && errors.Is(list[0].Err, ErrDamaged)
	})
	if at < 0 {
		t.Fatal("no run is damaged")
	}
	good := func() error {
		_, err := s.Start(context.Background(), nil, []journal.Start{startOf("good")})
		return err
	}
	errs := together(t, s, good, func() error {
		_, err := s.Admin(context.Background(), driver.AdminAction{Run: starts[at].ID, Kind: driver.AdminSetLabels, Labels: map[string]*string{"a": new("b")}})
		return err
	}, good)
	for i, err := range errs {
		if i == 1 && (!errors.Is(err, ErrDamaged) || errors.Is(err, journal.ErrUnavailable)) || i != 1 && err != nil {
			t.Errorf("call %d: %v", i, err)
		}
	}
}
