package runtime_test

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const mistaken workflow.Name[string, string] = "trip"

// bench is a store with a node, on which a test makes one mistake.
type bench struct {
	t   *testing.T
	ctx context.Context
	j   *journal.Journal
	log *clustertest.Log
	n   *runtime.Node
}

func newBench(t *testing.T) *bench {
	return &bench{t: t, ctx: clustertest.Context(t), j: journal.New(memory.New(nil), nil), log: new(clustertest.Log)}
}

// node runs a node whose workflow is fn, until the returned function is called.
func (b *bench) node(fn func(ctx workflow.Context, in string) (string, error)) (stop func()) {
	b.n = runtime.NewNode(b.j, &runtime.NodeOptions{Logger: slog.New(slog.NewTextHandler(b.log, nil)), Drain: time.Millisecond})
	runtime.Handle(b.n, mistaken, fn, nil)
	ctx, cancel := context.WithCancel(b.ctx)
	ended := make(chan error)
	go func() { ended <- b.n.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			b.t.Error(err)
		}
	}
}

// start starts a run, whoever executes it.
func (b *bench) start() *runtime.Run[string] {
	run, err := runtime.Start(b.ctx, runtime.NewClient(b.j, nil), mistaken, "in", nil)
	return clustertest.MustStart(b.t, run, err)
}

// problem starts a run whose code is fn, and returns what it is blocked with.
func (b *bench) problem(fn func(ctx workflow.Context, in string) (string, error)) string {
	defer b.node(fn)()
	return b.blocked(b.start())
}

func (b *bench) blocked(run *runtime.Run[string]) string {
	d := clustertest.Described(b.t, b.n.Client(), run.ID(), "the run is blocked", func(d *runtime.Description) bool {
		return d.Run.Task != nil && d.Run.Task.State == journal.Blocked
	})
	return d.Run.Task.Problem
}

// result starts a run whose code is fn, and returns the error that it ends with.
func (b *bench) result(fn func(ctx workflow.Context, in string) (string, error)) string {
	defer b.node(fn)()
	_, err := b.start().Result(b.ctx)
	return fmt.Sprint(err)
}

// line waits for a line of the log, and returns its message and its error.
func (b *bench) line(message string) string {
	var found string
	clustertest.Until(b.t, "there is a line "+message, func() bool {
		for line := range strings.Lines(b.log.String()) {
			if strings.Contains(line, message) {
				found = line
			}
		}
		return found != ""
	})
	_, found, _ = strings.Cut(found, "level=")
	found, _, _ = strings.Cut(found, " stack=")
	return strings.TrimSpace(found)
}

func succeeds(name string) func(ctx workflow.Context, _ string) (string, error) {
	return func(ctx workflow.Context, _ string) (string, error) {
		return workflow.Step(ctx, name, func(context.Context) (string, error) { return name, nil }, nil)
	}
}

var (
	idText   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)
	siteText = regexp.MustCompile(`[\w.]*TestMistakes\S* \((\w+\.go):\d+\)`)
	waitText = regexp.MustCompile(`in=\S+`)
)

// golden is a message without what differs from day to day.
func golden(message string) string {
	message = idText.ReplaceAllString(message, "ID")
	message = waitText.ReplaceAllString(message, "in=WAIT")
	return siteText.ReplaceAllString(message, "CODE ($1:LINE)")
}

// TestMistakes has what newcomers do wrong, and what they are told: what happened, where, and how
// to go on. Whoever changes a message looks at all three.
func TestMistakes(t *testing.T) {
	unexported := struct{ price int }{1}
	large := strings.Repeat("x", journal.PayloadBytesMax)
	again := "; if this node or another one has executed the run with other code, keep what that did under workflow.Changed " +
		"or as another version; if not, the code depends on more than its history, such as map order or time.Now"
	inside := ": a goroutine or a step's body cannot use its run; use workflow.Go or an Async verb instead of a go statement"
	better := "the run waits for better code; the workflow returned: "
	for name, tc := range map[string]struct {
		make func(b *bench) string
		want string
	}{
		"a program that sends another type": {
			func(b *bench) string {
				defer b.node(succeeds("work"))()
				run, err := runtime.Start(b.ctx, b.n.Client(), workflow.Name[int, string](mistaken), 42, nil)
				return b.blocked(clustertest.MustStart(b.t, run, err))
			},
			"input of workflow trip: decode into *string: json: cannot unmarshal number into Go value of type string" +
				"; another program or version wrote it: deploy code with a type that it fits",
		},
		"a signal to a run that is not there": {
			func(b *bench) string {
				return runtime.Signal(b.ctx, runtime.NewClient(b.j, nil), journal.NewRunID(), approved, "yes", nil).Error()
			},
			"signal approved to run ID: run not found: it was deleted, its start is not committed yet, or this is another store",
		},
		"terminating a run that is not there": {
			func(b *bench) string {
				return runtime.NewClient(b.j, nil).Terminate(b.ctx, journal.NewRunID(), "").Error()
			},
			"terminate run ID: run not found: it was deleted, its start is not committed yet, or this is another store",
		},
		"a key as an id": {
			func(*bench) string { _, err := journal.ParseRunID("trip:1"); return err.Error() },
			`run id "trip:1": invalid: it must be a UUID, as Run.ID gives it; Client.FindKey finds the id of a run by its key`,
		},
		"changed code": {
			func(b *bench) string {
				stop := b.node(func(ctx workflow.Context, in string) (string, error) {
					_, _ = succeeds("charge")(ctx, in)
					return approved.Receive(ctx)
				})
				run := b.start()
				clustertest.Parked(b.t, b.n.Client(), run.ID())
				stop()
				defer b.node(func(ctx workflow.Context, in string) (string, error) {
					return workflow.Step(ctx, "check", func(context.Context) (string, error) { return "", nil }, nil)
				})()
				if err := b.n.Client().Resume(b.ctx, run.ID()); err != nil {
					b.t.Fatal(err)
				}
				return b.blocked(run)
			},
			"code and history differ at event 1: history has step charge, code has step check at CODE (mistakes_test.go:LINE), calling workflow.Step" + again,
		},
		"a verb in a goroutine": {
			func(b *bench) string {
				return b.problem(func(ctx workflow.Context, _ string) (string, error) {
					failed := make(chan error)
					go func() { failed <- workflow.Sleep(ctx, time.Hour) }()
					return "", <-failed
				})
			},
			"workflow.Sleep was called outside of workflow code at CODE (mistakes_test.go:LINE)" + inside,
		},
		"a verb in a step's body": {
			func(b *bench) string {
				return b.problem(func(ctx workflow.Context, _ string) (string, error) {
					return workflow.Step(ctx, "outer", func(context.Context) (string, error) { return "", workflow.Sleep(ctx, time.Hour) }, nil)
				})
			},
			"workflow.Sleep was called outside of workflow code at CODE (mistakes_test.go:LINE)" + inside,
		},
		"a step without a name": {
			func(b *bench) string {
				return b.problem(func(ctx workflow.Context, in string) (string, error) {
					return workflow.Step(ctx, "", func(context.Context) (string, error) { return "", nil }, nil)
				})
			},
			better + `step "": is empty; it needs a name, which histories keep, at CODE (mistakes_test.go:LINE), calling workflow.Step`,
		},
		"a step without a function": {
			func(b *bench) string {
				return b.problem(func(ctx workflow.Context, in string) (string, error) {
					return workflow.Step[string](ctx, "work", nil, nil)
				})
			},
			better + `step "work": its function is nil, at CODE (mistakes_test.go:LINE), calling workflow.Step`,
		},
		"an option that can never work": {
			func(b *bench) string {
				return b.problem(func(ctx workflow.Context, in string) (string, error) {
					return "", workflow.Do(ctx, "work", func(context.Context) error { return nil }, &workflow.StepOptions{Timeout: -1})
				})
			},
			better + `step "work": option Timeout is -1ns: it must be positive, or 0 for none, at CODE (mistakes_test.go:LINE), calling workflow.Do`,
		},
		"a step's output that JSON cannot hold": {
			func(b *bench) string {
				return b.result(func(ctx workflow.Context, _ string) (string, error) {
					_, err := workflow.Step(ctx, "work", func(context.Context) (chan int, error) { return nil, nil }, nil)
					return "", err
				})
			},
			"run ID failed: reprise.Encode: output of step work: encode chan int: json: unsupported type: chan int; use a type that JSON can hold",
		},
		"a field that JSON cannot hold": {
			func(b *bench) string {
				_, err := runtime.Start(b.ctx, runtime.NewClient(b.j, nil), workflow.Name[any, string](mistaken), any(struct{ Done func() }{}), nil)
				return err.Error()
			},
			`start trip: input: encode struct { Done func() }: field Done: json: unsupported type: func(); leave the field out with the tag json:"-", or change its type`,
		},
		"fields that are not exported": {
			func(b *bench) string {
				return b.result(func(ctx workflow.Context, _ string) (string, error) {
					_, err := workflow.Step(ctx, "work", func(context.Context) (any, error) { return unexported, nil }, nil)
					return "", err
				})
			},
			"run ID failed: reprise.Encode: output of step work: encode struct { price int }: it has no exported fields, so nothing of it would be kept; export them",
		},
		"an input that is too large": {
			func(b *bench) string {
				_, err := runtime.Start(b.ctx, runtime.NewClient(b.j, nil), mistaken, large, nil)
				return err.Error()
			},
			"start trip: input in bytes: 2097154 exceeds the limit of 2097152" +
				"; store it elsewhere and pass a reference, or raise journal.Options.PayloadBytesMax in all programs",
		},
		"a step that panics": {
			func(b *bench) string {
				b.result(func(ctx workflow.Context, _ string) (string, error) {
					var prices map[string]int
					return "", workflow.Do(ctx, "work", func(context.Context) error { prices["tea"] = 1; return nil },
						&workflow.StepOptions{Retry: &workflow.RetryPolicy{Max: time.Millisecond}})
				})
				return b.line("has failed for good")
			},
			`WARN msg="a step panicked, and has failed for good; repair its code" reprise.run=ID reprise.workflow=trip reprise.step=work ` +
				`reprise.attempt=3 error="panic: assignment to entry in nil map at CODE (mistakes_test.go:LINE)"`,
		},
		"workflow code that panics": {
			func(b *bench) string {
				return b.problem(func(workflow.Context, string) (string, error) {
					prices := map[string]map[string]int{}
					prices["drinks"]["tea"] = 1
					return "", nil
				})
			},
			"workflow code panicked: assignment to entry in nil map at CODE (mistakes_test.go:LINE); repair the code and deploy it, the run goes on then",
		},
		"workflow code that blocks": {
			func(b *bench) string {
				release := make(chan struct{})
				stop := b.node(func(_ workflow.Context, in string) (string, error) { <-release; return in, nil })
				run := b.start()
				line := b.line("does not await")
				close(release)
				clustertest.MustResult(b.t, run)
				stop()
				return line
			},
			`WARN msg="workflow code does not await: put into a step what blocks or computes for long; other runs go on" ` +
				`reprise.run=ID reprise.workflow=trip after=2s at="CODE (mistakes_test.go:LINE)"`,
		},
		"a query that nobody answers": {
			func(b *bench) string {
				defer b.node(func(ctx workflow.Context, _ string) (string, error) {
					workflow.Query[int, int]("progress").Handle(ctx, func(int) (int, error) { return 1, nil })
					return approved.Receive(ctx)
				})()
				run := b.start()
				clustertest.Parked(b.t, b.n.Client(), run.ID())
				_, err := runtime.Query(b.ctx, b.n, run.ID(), workflow.Query[int, int]("prgress"), 1)
				return err.Error()
			},
			`query prgress of run ID: query "prgress": no handler: the run has progress`,
		},
		"no function": {
			func(b *bench) (text string) {
				defer func() { text = fmt.Sprint(recover()) }()
				runtime.Handle(runtime.NewNode(b.j, nil), mistaken, nil, nil)
				return ""
			},
			`runtime: the function of workflow "trip" is nil`,
		},
		"no workflow": {
			func(b *bench) string { return runtime.NewNode(b.j, nil).Run(b.ctx).Error() },
			"no workflow is registered with the node: call Handle before Run",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := golden(tc.make(newBench(t))); got != tc.want {
				t.Errorf("the message is\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}
