package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/reprise-run/reprise/journal/postgres/pgserver"
)

// dsnEnv names the environment variable with the address of a server to test on. Its user must be
// allowed to create databases.
const dsnEnv = "REPRISE_TEST_DSN"

// shared is the server of this test binary: starting one takes a second, a database in it a tenth.
// mu is held while a database is made, also because a template can be copied by one at a time only.
var shared struct {
	mu       sync.Mutex
	own      *pgserver.Server // nil on somebody else's server
	dsn      string           // of a database to give orders in; empty before the first use
	template string           // the migrated database that New copies
	copies   string           // how: files are copied several times as fast as logged blocks, which is the default since 15
	common   string           // the database of all that NewSchema names
	tables   []string         // of every migrated schema
	keeper   *keeper          // of the schemas in common
}

// Main is the TestMain of packages that use Postgres. It runs the tests, stops the server, looks
// for leaked goroutines, and exits.
func Main(m *testing.M) { os.Exit(run(m)) }

// run runs the tests. The server is stopped before leaks are looked for, because its goroutines
// would be found.
func run(m *testing.M) int {
	code := m.Run()
	if err := stopShared(); err != nil {
		fmt.Fprintln(os.Stderr, "pgtest:", err)
		code = max(code, 1)
	}
	if code != 0 {
		return code // a failed test may leave anything behind
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, "pgtest:", err)
		return 1
	}
	return 0
}

// New returns the address of a fresh, migrated database. When the test ends, it is checked with
// [Check] and dropped.
func New(t testing.TB) string {
	t.Helper()
	dsn := create(t, true)
	t.Cleanup(func() { Check(t, dsn, Schema) })
	return dsn
}

// Empty returns the address of a fresh database with nothing in it. It is dropped when the test
// ends, and not checked: it need not hold a journal.
func Empty(t testing.TB) string {
	t.Helper()
	return create(t, false)
}

// NewSchema returns the address of a database that other tests use as well, and the name of a
// schema in it that is this test's own and that the store which it is for makes. When the test
// ends, the schema is checked with [Check], emptied and kept for the next test that asks: making
// and dropping the tables would take longer than most tests. It costs a fraction of New.
//
// What the next test gets is as good as new: every table but that of the migrations is emptied, and
// the sequences begin again. The schema of a failed test, or one with tables that are not the
// journal's, is dropped. One thing is shared all the same: the locks of nodes are named by schema
// and id, so a node may have to wait for its lock until the session of the test before has ended.
// A test in which a node must be suspected at once needs a database of its own, from New.
func NewSchema(t testing.TB) (dsn, schema string) {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	ctx := context.Background()
	err := startShared(ctx)
	if err == nil {
		err = makeTemplate(ctx) // its tables are what a schema is compared with when it comes back
	}
	if err == nil {
		err = makeCommon(ctx)
	}
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	dsn = withDatabase(shared.dsn, shared.common)
	keeper := shared.keeper
	schema = keeper.take()
	t.Cleanup(func() {
		if err := keeper.giveBack(t, schema); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	return dsn, schema
}

// create makes a database and has it dropped, with whatever sessions it has left, when the test
// ends.
func create(t testing.TB, migrated bool) string {
	t.Helper()
	shared.mu.Lock() // also because a template can be copied by one at a time only
	defer shared.mu.Unlock()
	ctx := context.Background()
	if err := startShared(ctx); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	name, template := uniqueName("test"), "template0"
	if migrated {
		if err := makeTemplate(ctx); err != nil {
			t.Fatalf("pgtest: %v", err)
		}
		template = shared.template
	}
	if err := executeAdmin(ctx, fmt.Sprintf("create database %s template %s%s", name, template, shared.copies)); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		if err := executeAdmin(ctx, fmt.Sprintf("drop database %s with (force)", name)); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	return withDatabase(shared.dsn, name)
}

// startShared finds the server, or starts it. A private one does not sync, because a crash of the
// machine ends the tests as well, and has its files in memory if it can: a database of a test is
// hundreds of files, and to make and remove them on a disk were a quarter of all that the server
// does. It compiles no expressions: tables that nobody has analysed make the planner expect
// millions of rows, so each session of a test would load a compiler for ten. The caller holds mu.
func startShared(ctx context.Context) error {
	if shared.dsn != "" {
		return nil
	}
	if shared.dsn = os.Getenv(dsnEnv); shared.dsn != "" {
		return nil
	}
	own, err := pgserver.Start(ctx, &pgserver.Options{
		NoFsync: true, Settings: map[string]string{"max_connections": "400", "jit": "off"}, Dir: pgserver.MemoryDir(),
	})
	if err != nil {
		return err
	}
	shared.own, shared.dsn = own, own.DSN("postgres")
	return nil
}

// makeTemplate makes the migrated database. It has no sessions, as a database with sessions cannot
// be copied. The caller holds mu.
func makeTemplate(ctx context.Context) error {
	if shared.template != "" {
		return nil
	}
	if err := makeEmpty(ctx, &shared.template, "template"); err != nil {
		return err
	}
	tables, err := migrate(ctx, withDatabase(shared.dsn, shared.template))
	if err == nil {
		shared.copies, err = strategy(ctx)
	}
	if err != nil {
		return fmt.Errorf("migrate the template: %w", err)
	}
	shared.tables = tables
	return nil
}

// strategy returns how the server should copy databases: one before 15 knows one way alone.
func strategy(ctx context.Context) (clause string, err error) {
	conn, err := pgx.Connect(ctx, shared.dsn)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	const sql = "SELECT CASE WHEN current_setting('server_version_num')::int >= 150000 THEN ' strategy file_copy' ELSE '' END"
	err = conn.QueryRow(ctx, sql).Scan(&clause)
	return clause, err
}

// makeCommon makes the database of all that NewSchema names, and its keeper. The caller holds mu.
func makeCommon(ctx context.Context) (err error) {
	if shared.keeper != nil {
		return nil
	}
	if err := makeEmpty(ctx, &shared.common, "common"); err != nil {
		return err
	}
	shared.keeper, err = newKeeper(ctx, withDatabase(shared.dsn, shared.common), shared.tables)
	return err
}

// makeEmpty makes a database without tables, unless it has a name already. The caller holds mu.
func makeEmpty(ctx context.Context, name *string, what string) error {
	if *name != "" {
		return nil
	}
	made := uniqueName(what)
	if err := executeAdmin(ctx, fmt.Sprintf("create database %s template template0", made)); err != nil {
		return err
	}
	*name = made
	return nil
}

// stopShared stops the private server, or removes what was made on somebody else's.
func stopShared() error {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.keeper != nil {
		shared.keeper.sessions.Close()
	}
	if shared.own != nil {
		return shared.own.Stop()
	}
	var err error
	for _, name := range []string{shared.template, shared.common} {
		if name != "" {
			err = errors.Join(err, executeAdmin(context.Background(), fmt.Sprintf("drop database %s with (force)", name)))
		}
	}
	return err
}

// executeAdmin executes a statement in the server's own database, which no test uses.
func executeAdmin(ctx context.Context, sql string) error { return execute(ctx, shared.dsn, sql) }

// execute executes a statement on a connection of its own: databases cannot be created in a
// transaction.
func execute(ctx context.Context, dsn, sql string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}
	return nil
}

// withDatabase returns dsn with another database. Like all of this package it wants an address in
// URL form.
func withDatabase(dsn, name string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		panic(fmt.Sprintf("pgtest: $%s must be a postgres:// URL: %v", dsnEnv, err))
	}
	u.Path = "/" + name
	return u.String()
}
