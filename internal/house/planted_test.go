package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestLayersCatchesViolation plants one violation at a time in a small clean module.
func TestLayersCatchesViolation(t *testing.T) {
	t.Parallel()
	const module = "module example.org/m\n\ngo 1.26\n"
	clean := map[string]string{
		"go.mod":                        module,
		"migrations/migrations.go":      "package migrations",
		"journal/journal.go":            `package journal; import _ "time"`,
		"journal/postgres/postgres.go":  `package postgres; import (_ "example.org/m/migrations"; _ "github.com/jackc/pgx/v5")`,
		"journal/journaltest/suite.go":  `package journaltest; import _ "testing"`,
		"replay/machine.go":             "package replay\nimport (\"math/rand/v2\"; \"example.org/m/journal\")\nvar _ = rand.New(rand.NewPCG(journal.A, 2))",
		"replay/workflow/workflow.go":   `package workflow; import _ "example.org/m/replay"`,
		"replay/machine_test.go":        `package replay_test; import (_ "os"; _ "testing"; _ "example.org/m/replay/workflow")`,
		"actor/run.go":                  `package actor; import _ "github.com/asynkron/protoactor-go/actor"`,
		"runtime/node.go":               `package runtime; import (_ "go.opentelemetry.io/otel"; _ "github.com/cenkalti/backoff/v4"; _ "example.org/m/actor")`,
		"runtime/node_test.go":          `package runtime; import (_ "example.org/m/journal/postgres"; _ "github.com/jackc/pgx/v5/pgxpool")`,
		"migrations/migrations_test.go": `package migrations_test; import _ "example.org/m/journal/postgres/pgtest"`,
		"examples/hello/main.go":        `package main; import _ "example.org/m/journal/postgres"`,
		"bench/peers/go.mod":            "module example.org/peers\n",
		"bench/peers/main.go":           `package main; import _ "go.opentelemetry.io/otel"`,
		"journal/testdata/x.go":         "not Go",
		".ci/tool.go":                   "not Go",
		"reprise.go":                    "package reprise",
		"example_test.go":               `package reprise_test; import (_ "example.org/m/journal/memory"; _ "example.org/m/runtime")`,
		"internal/batch/batcher.go":     `package batch; import _ "example.org/m/internal/pool"`,
		"journal/memory/memory.go":      `package memory; import (_ "example.org/m/journal"; _ "example.org/m/journal/driver")`,
		"journal/driver/driver.go":      `package driver; import _ "example.org/m/journal"`,
		"runtime/internal/worker/w.go":  `package worker; import (_ "example.org/m/actor"; _ "example.org/m/internal/batch")`,
		"runtime/acceptance/order/m.go": `package main; import (_ "testing"; _ "example.org/m/journal/postgres"; _ "example.org/m/runtime/clustertest")`,
	}
	planted := []struct{ file, text, want string }{
		{"journal/up.go", `package journal; import _ "example.org/m/replay"`, "imports go down only"},
		{"journal/up_test.go", `package journal; import _ "example.org/m/runtime"`, "imports go down only"},
		{"cmd/x/main.go", `package main; import _ "example.org/m/examples/hello"`, "imports go down only"},
		{"replay/up.go", `package replay; import _ "example.org/m/replay/workflow"`, "imports go down only: replay may not import replay/workflow"},
		{"internal/list/x.go", `package list; import _ "example.org/m/journal"`, "imports go down only: internal/list may not import journal: internal is the bottom floor"},
		{"internal/list/x_test.go", `package list; import _ "example.org/m/runtime"`, "imports go down only: tests of internal import runtime"},
		{"journal/memory/x.go", `package memory; import _ "example.org/m/journal/postgres"`, "imports go down only: journal/memory may not import journal/postgres: a driver may not import another driver"},
		{"runtime/internal/worker/x.go", `package worker; import _ "example.org/m/runtime"`, "imports go down only: runtime/internal/worker may not import runtime: a part of a node"},
		{"journal/x.go", `package journal; import _ "example.org/m/journal/journaltest/model"`, "test helpers only in tests"},
		{"actor/x.go", `package actor; import _ "example.org/m/runtime/clustertest"`, "test helpers only in tests"},
		{"reprise.go", `package reprise; import _ "example.org/m/journal"`, "imports go down only: . may not import journal: the root package is documentation"},
		{"docs/x.go", `package docs`, "top-level folders: docs holds no Go"},
		{"runtime/x.go", `package runtime; import _ "example.org/m/journal/postgres"`, "imports go down only: runtime may not import journal/postgres: back ends are chosen at the top"},
		{"journal/x.go", `package journal; import _ "example.org/m/journal/postgres"`, "imports go down only: journal may not import journal/postgres: back ends are chosen at the top"},
		{"actor/x.go", `package actor; import _ "example.org/m/migrations"`, "imports go down only: actor may not import migrations: migrations belong to the back ends"},
		{"runtime/x.go", `package runtime; import _ "github.com/jackc/pgx/v5"`, "pgx only in journal/postgres"},
		{"runtime/x.go", `package runtime; import _ "github.com/asynkron/protoactor-go/actor"`, "protoactor only in actor"},
		{"actor/x.go", `package actor; import _ "github.com/asynkron/protoactor-go/remote"`, "only the actor package of protoactor"},
		{"journal/x.go", `package journal; import _ "go.opentelemetry.io/otel/trace"`, "OpenTelemetry only in runtime and cmd"},
		{"actor/x.go", `package actor; import _ "github.com/cenkalti/backoff/v4"`, "backoff only in runtime"},
		{"runtime/x.go", `package runtime; import _ "github.com/spf13/cobra"`, "cobra only in cmd"},
		{"replay/x.go", `package replay; import _ "log/slog"`, "replay is pure"},
		{"replay/workflow/x.go", `package workflow; import _ "math/rand"`, "replay is pure"},
		{"replay/x.go", `package replay; import _ "net/http"`, "replay is pure"},
		{"replay/x.go", `package replay; import "time"; var _ = time.Now()`, "replay is pure"},
		{"replay/x.go", `package replay; import clock "time"; var _ = clock.After`, "replay is pure"},
		{"replay/x.go", `package replay; import "math/rand/v2"; var _ = rand.IntN(3)`, "replay is pure"},
		{"replay/x.go", `package replay; import "example.org/m/journal"; var _ = journal.NewRunID()`, "replay is pure"},
		{"replay/x.go", `package replay; func f() { go f() }`, "replay is pure"},
		{"journal/x.go", `package journal; import _ "testing"`, "production code never imports testing"},
		{"cmd/x/main.go", `package main; import _ "example.org/m/journal/journaltest"`, "test helpers only in tests"},
		{"actor/x.go", `package actor; func f(c ctx) { c.SetReceiveTimeout(1) }`, "protoactor's sharp edges"},
		{"actor/x.go", `package actor; var _ = proto.NewLocalPID`, "protoactor's sharp edges"},
		{"util/x.go", `package util`, "top-level folders"},
		{"journal/x.go", "package journal" + strings.Repeat("\n", fileLinesMax+1), "file length"},
		{"journal/x.go", "package journal\nfunc f() {" + strings.Repeat("\n", functionLinesMax+1) + "}", "function length"},
		{"journal/x.go", "package journal\ntype T struct {" + strings.Repeat("a, b, c int;", fieldsMax/3) + "d int}", "fields of a type: T has 31 fields, at most 30"},
		{"journal/x.go", "package journal\ntype T[K any] int" + strings.Repeat("\nfunc (*T[K]) m() {}", methodsMax+1), "methods of a type: 41 methods, at most 40"},
		{"journal/x.go", "package journal\n\n// " + strings.Repeat("x", commentColumnsMax-2) + "\nconst A = 1", "comment width: 101 columns, at most 100"},
		{"journal/x.go", "package journal\n\nfunc f() {\n\t// " + strings.Repeat("x", commentColumnsMax-6) + "\n}", "comment width: 101 columns"},
		{"journal/x.go", "package journal\n\nconst aSQL = `\nSELECT\n-- " + strings.Repeat("x", commentColumnsMax) + "\n1`", "comment width: 103 columns"},
	}
	check := func(t *testing.T, file, text string) []string {
		tree := fstest.MapFS{}
		for name, text := range clean {
			tree[name] = &fstest.MapFile{Data: []byte(text)}
		}
		tree[file] = &fstest.MapFile{Data: []byte(text)}
		broken, _, err := checkLayers(tree)
		if err != nil {
			t.Fatal(err)
		}
		return broken
	}
	if broken := check(t, "go.mod", module); len(broken) > 0 {
		t.Fatalf("the clean module breaks %q", broken)
	}
	for _, p := range planted {
		t.Run(p.file+" "+p.want, func(t *testing.T) {
			broken := check(t, p.file, p.text)
			if len(broken) != 1 || !strings.Contains(broken[0], ": "+p.want) || !strings.HasPrefix(broken[0], top(p.file)) {
				t.Errorf("planted in %s:\n%s\nbroken rules %q, want one of %q", p.file, p.text, broken, p.want)
			}
		})
	}
}
