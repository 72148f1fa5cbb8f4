package cli_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
)

// patienceOf returns how long a verb would wait for its store, false if for ever.
func patienceOf(t *testing.T, args ...string) (wait time.Duration, ends bool) {
	t.Helper()
	stop := errors.New("far enough")
	opened := false
	root := cli.New(&cli.Options{Open: func(ctx context.Context, _ bool) (cli.Store, error) {
		deadline, ok := ctx.Deadline()
		wait, ends, opened = time.Until(deadline), ok, true
		return nil, stop
	}})
	root.SetArgs(args)
	if err := root.ExecuteContext(context.Background()); !errors.Is(err, stop) || !opened {
		t.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	return wait, ends
}

// TestMigrateUpWaits: for a lock, or an index of a large table, as long as it takes, where other
// verbs give up; and not longer than somebody says.
func TestMigrateUpWaits(t *testing.T) {
	t.Parallel()
	if wait, ends := patienceOf(t, "migrate", "up"); ends {
		t.Errorf("migrate up waits for %s", wait)
	}
	if wait, ends := patienceOf(t, "migrate", "up", "--timeout", "2h"); !ends || wait < time.Hour {
		t.Errorf("migrate up --timeout 2h waits for %s, %v", wait, ends)
	}
	for _, verb := range []string{"migrate status", "run list", "demo"} {
		if wait, ends := patienceOf(t, strings.Fields(verb)...); !ends || wait > time.Minute {
			t.Errorf("%s waits for %s, %v", verb, wait, ends)
		}
	}
}

// TestDemoLeavesTablesOfAnotherRelease: it refuses them before it migrates them.
func TestDemoLeavesTablesOfAnotherRelease(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, store string) {
		execSQL(t, store, `DELETE FROM reprise.schema_migrations WHERE version > 7`)
		before := reprise(t, store, cli.ExitDone, "migrate", "status").out
		wantText(t, "status", before, "pending")
		got := reprise(t, store, cli.ExitRefused, "demo")
		wantText(t, "demo", got.err, "another release", "nothing was planted", "choose a new file")
		if after := reprise(t, store, cli.ExitDone, "migrate", "status").out; after != before {
			t.Errorf("it has migrated:\n%s", after)
		}
	})
}
