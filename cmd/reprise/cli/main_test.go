package cli_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// programEnv makes this binary the command: "reprise" as it is, the others as a program with code.
const programEnv = "REPRISE_TEST_PROGRAM"

// TestMain also makes this binary the command, so that every test goes through a process with its
// arguments, streams and exit code, and a race in it is found.
func TestMain(m *testing.M) {
	switch os.Getenv(programEnv) {
	case "reprise":
		cli.Main(nil)
	case "embedded":
		cli.Main(&cli.Options{Name: "shop", Register: cli.RegisterDemo})
	case "changed":
		cli.Main(&cli.Options{Name: "shop", Register: registerChanged})
	case "shop":
		cli.Main(&cli.Options{Name: "shop", Register: handleAddressed})
	case "flows":
		cli.Main(flowsProgram())
	case "exports":
		os.Exit(exportsMain())
	case "refusing":
		cli.Main(&cli.Options{Client: &runtime.ClientOptions{Interceptors: []runtime.Interceptor{{Client: refuse}}}})
	}
	pgtest.Main(m)
}

// refuse is an interceptor that lets no run be terminated.
func refuse(ctx context.Context, call *runtime.Call, next func(context.Context) error) error {
	if call.Kind == runtime.TerminateCall {
		return errors.New("nobody is terminated here")
	}
	return next(ctx)
}

// registerChanged registers code that does not fit the histories of the demonstration.
func registerChanged(n *runtime.Node) {
	runtime.Handle(n, workflow.Name[map[string]string, string]("demo.parcel"), func(ctx workflow.Context, p map[string]string) (string, error) {
		if p["fate"] == "child" { // what it does first is as before
			workflow.Query[struct{}, string]("stage").Handle(ctx, func(struct{}) (string, error) { return "not weighed", nil })
			if _, err := workflow.Step(ctx, "label", func(context.Context) (string, error) { return "", nil }, nil); err != nil {
				return "", err
			}
		}
		return workflow.Step(ctx, "weigh", func(context.Context) (string, error) { return "", nil }, nil)
	}, nil)
}

// patience bounds every wait; nothing is expected to take nearly as long.
const patience = time.Minute

// said is what a command has said, and how it ended.
type said struct {
	out, err string
	code     int
}

// command is the command as a process.
func command(t *testing.T, store string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), programEnv+"=reprise", "REPRISE_STORE="+store)
	return cmd
}

func finish(t *testing.T, cmd *exec.Cmd) said {
	t.Helper()
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	failure := cmd.Run()
	exit := new(exec.ExitError)
	if failure != nil && !errors.As(failure, &exit) {
		t.Fatal(failure)
	}
	return said{out.String(), err.String(), cmd.ProcessState.ExitCode()}
}

// reprise executes the command and wants an exit code.
func reprise(t *testing.T, store string, code int, args ...string) said {
	t.Helper()
	s := finish(t, command(t, store, args...))
	if s.code != code {
		t.Fatalf("reprise %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), s.code, code, s.out, s.err)
	}
	return s
}

// onBoth runs a test on a store of each kind, which exists and has tables.
func onBoth(t *testing.T, test func(t *testing.T, store string)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "runs.db")
		reprise(t, path, cli.ExitDone, "migrate", "up")
		test(t, path)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, pgtest.New(t))
	})
}

func wantText(t *testing.T, where, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%s", where, part, text)
		}
	}
}
