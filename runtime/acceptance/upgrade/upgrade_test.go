package upgrade_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/journal/sqlite"
)

var record = flag.String("record", "", "make the dumps of a release, such as v1.2.0, of the working tree")

func TestMain(m *testing.M) {
	pgtest.Main(m)
}

// backend is a back end whose databases can be written as SQL and read again.
type backend struct {
	name    string
	empty   func(t *testing.T) string // a database without tables; what open, dump and restore are given
	open    func(t *testing.T, database string) (store driver.Store, stop func())
	dump    func(t *testing.T, database string) string
	restore func(t *testing.T, database, sql string)
}

var backends = []backend{
	{"postgres", func(t *testing.T) string { return pgtest.Empty(t) }, openPostgres, dumpPostgres, restorePostgres},
	{"sqlite", func(t *testing.T) string { return filepath.Join(t.TempDir(), "reprise.db") }, openSQLite, dumpSQLite, restoreSQLite},
}

func openPostgres(t *testing.T, dsn string) (driver.Store, func()) {
	store, err := postgres.Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	return store, store.Close
}

func openSQLite(t *testing.T, path string) (driver.Store, func()) {
	store, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return store, store.Close
}

// TestUpgrade restores the database of each release, opens it with this one, which migrates it, and
// goes on where it stopped.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	for _, b := range backends {
		dumps, err := filepath.Glob(filepath.Join("testdata", "*."+b.name+".sql"))
		if err != nil {
			t.Fatal(err)
		}
		if len(dumps) == 0 {
			t.Errorf("there is no dump of %s", b.name)
		}
		for _, file := range dumps {
			t.Run(filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				checkRelease(t, b, file)
			})
		}
	}
}

func checkRelease(t *testing.T, b backend, file string) {
	sql, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(strings.TrimSuffix(file, ".sql") + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	database := b.empty(t)
	b.restore(t, database, string(sql))
	store, closeStore := b.open(t, database)
	defer closeStore()
	if diff := cmp.Diff(string(want), histories(t, store)); diff != "" {
		t.Errorf("histories are not what they were (-recorded +loaded):\n%s", diff)
	}
	w, stop := enter(t, store, true)
	defer stop()
	w.finish()
}

// TestUpgradeFindsATamperedDump: a value that is not what was recorded is found.
func TestUpgradeFindsATamperedDump(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "unreleased.sqlite.sql"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "unreleased.sqlite.txt"))
	if err != nil {
		t.Fatal(err)
	}
	b := backends[1]
	database := b.empty(t)
	b.restore(t, database, strings.ReplaceAll(string(text), "upgrade.customs", "upgrade.customer"))
	store, closeStore := b.open(t, database)
	defer closeStore()
	if got := histories(t, store); got == string(want) {
		t.Error("another workflow's name was not found")
	}
}

// TestEveryReleaseHasDumps reads the releases from the headings of the changelog.
func TestEveryReleaseHasDumps(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, heading := range regexp.MustCompile(`(?m)^## \[?v?(\d+\.\d+\.\d+)`).FindAllStringSubmatch(string(text), -1) {
		for _, b := range backends {
			if _, err := os.Stat(filepath.Join("testdata", "v"+heading[1]+"."+b.name+".sql")); err != nil {
				t.Errorf("release %s has no dump of %s: see RELEASING.md", heading[1], b.name)
			}
		}
	}
}

// TestRecord makes the dumps of a release with -record, and else shows in a temporary folder that it could.
func TestRecord(t *testing.T) {
	t.Parallel()
	folder, release := "testdata", *record
	if release == "" {
		folder, release = t.TempDir(), "v0.0.0"
	} else if !regexp.MustCompile(`^(v\d+\.\d+\.\d+|unreleased)$`).MatchString(release) {
		t.Fatalf("%q is no release: vX.Y.Z", release)
	}
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			file := filepath.Join(folder, release+"."+b.name)
			if _, err := os.Stat(file + ".sql"); err == nil {
				t.Fatalf("%s.sql exists: the dump of a release never changes", file)
			}
			database := b.empty(t)
			store, closeStore := b.open(t, database)
			w, stop := enter(t, store, false)
			w.fill()
			stop()
			text := histories(t, store)
			closeStore()
			write(t, file+".sql", b.dump(t, database))
			write(t, file+".txt", text)
			checkRelease(t, b, file+".sql")
		})
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// histories prints every run of a store with its events and its unread messages. The form is its
// own, so that a field that a later release adds to a type changes nothing in it.
func histories(t *testing.T, store driver.Store) string {
	t.Helper()
	page, err := store.List(t.Context(), journal.ListFilter{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	requests := make([]driver.LoadRequest, len(page.Runs))
	for i, r := range page.Runs {
		requests[i] = driver.LoadRequest{Run: r.ID}
	}
	loaded, err := store.Load(t.Context(), requests)
	if err != nil {
		t.Fatal(err)
	}
	texts := make([]string, len(loaded))
	for i, h := range loaded {
		if h.Err != nil {
			t.Fatal(h.Err)
		}
		texts[i] = historyText(h)
	}
	slices.Sort(texts)
	return strings.Join(texts, "\n")
}

func historyText(h driver.History) string {
	var b strings.Builder
	r := h.Run
	fmt.Fprintf(&b, "run %q %s %s v%d generation %d priority %d queue %s labels %v status %s input %s\n",
		r.Key, r.ID, r.Workflow, r.Version, r.Generation, r.Priority, r.Queue, r.Labels, r.Status, r.Input.Data)
	if r.Parent != nil {
		fmt.Fprintf(&b, "  child of %s\n", r.Parent.Run)
	}
	for _, e := range h.Events {
		fmt.Fprintf(&b, "  %d %s %s %q cmd %d attempt %d inbox %d %q", e.Seq, e.Time.UTC().Format("2006-01-02T15:04:05.000000Z"),
			e.Kind, e.Name, e.Cmd, e.Attempt, e.Inbox, e.Payload.Data)
		for _, issued := range e.Issued {
			fmt.Fprintf(&b, " > %s", issued)
		}
		b.WriteString("\n")
	}
	for _, m := range h.Inbox {
		fmt.Fprintf(&b, "  unread %d %q %q\n", m.Number, m.Name, m.Payload.Data)
	}
	return b.String()
}
