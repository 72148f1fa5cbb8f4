package runtime_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgserver"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// lengthOf is a workflow that counts the bytes of its input.
const lengthOf workflow.Name[string, int] = "length"

// A run whose input the disk has lost is blocked with a problem that says so. All others, which the
// same claims bring, go on; it is listed with them, and can be ended.
func TestALostInputBlocksItsRunAlone(t *testing.T) {
	t.Parallel()
	server, err := pgserver.Start(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	ctx := clustertest.Context(t)
	client := openOn(t, server).Client()
	noise := make([]byte, 30_000)
	_, _ = rand.Read(noise)
	text := base64.StdEncoding.EncodeToString(noise)
	start := func(input string) journal.RunID {
		run, err := runtime.Start(ctx, client, lengthOf, input, nil)
		return clustertest.MustStart(t, run, err).ID()
	}
	others := []journal.RunID{start("a")}
	lost := start(text)
	others = append(others, start("b"), start("c"))
	loseInput(ctx, t, server)

	n := openOn(t, server)
	runtime.Handle(n, lengthOf, func(_ workflow.Context, text string) (int, error) { return len(text), nil }, nil)
	c := n.Client()
	running, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(running) }()
	for _, run := range others {
		if got, err := runtime.RunOf(c, lengthOf, run).Result(ctx); err != nil || got != 1 {
			t.Errorf("a neighbour: %d, %v", got, err)
		}
	}
	d := clustertest.Described(t, c, lost, "it is blocked", func(d *runtime.Description) bool {
		return d.Run.Task != nil && d.Run.Task.State == journal.Blocked
	})
	if p := d.Run.Task.Problem; !strings.Contains(p, "column input cannot be read") || !strings.Contains(p, "XX001") || !errors.Is(d.Run.Unreadable, journal.ErrDamaged) {
		t.Errorf("it is blocked for %s, and described with %v", p, d.Run.Unreadable)
	}
	page, err := c.List(ctx, journal.ListFilter{})
	if err != nil || len(page.Runs) != 4 {
		t.Errorf("listed: %v, %v", page, err)
	}
	if err := c.Terminate(ctx, lost, "its input is lost"); err != nil {
		t.Error(err)
	}
	_, err = runtime.RunOf(c, lengthOf, lost).Result(ctx)
	if _, ok := errors.AsType[*runtime.TerminatedError](err); !ok {
		t.Errorf("the result of the lost run: %v", err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// openOn returns a node on a server that has not begun.
func openOn(t *testing.T, server *pgserver.Server) *runtime.Node {
	t.Helper()
	store, err := postgres.Open(t.Context(), server.DSN("postgres"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: slog.New(slog.DiscardHandler)})
}

// loseInput overwrites the first values that are stored outside of the table of runs, while the
// server is down.
func loseInput(ctx context.Context, t *testing.T, server *pgserver.Server) {
	t.Helper()
	conn, err := pgx.Connect(ctx, server.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	var folder, file string
	err = conn.QueryRow(ctx, `SELECT current_setting('data_directory'), pg_relation_filepath(reltoastrelid) FROM pg_class WHERE oid = 'reprise.runs'::regclass`).
		Scan(&folder, &file)
	if err == nil {
		_, err = conn.Exec(ctx, `CHECKPOINT`)
	}
	if err = errors.Join(err, server.Kill()); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(folder, file), os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt(bytes.Repeat([]byte{0}, 8192), 0)
		err = errors.Join(err, f.Close())
	}
	if err = errors.Join(err, server.Restart(ctx)); err != nil {
		t.Fatal(err)
	}
}
