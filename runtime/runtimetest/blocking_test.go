package runtimetest_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// blockingCode is workflow code that blocks, each with a part of the line that is to be named.
var blockingCode = map[string]func(ctx workflow.Context) error{
	"channel": func(workflow.Context) error { <-make(chan int); return nil },
	"sleep":   func(workflow.Context) error { time.Sleep(time.Millisecond); return nil },
	"after a step": func(ctx workflow.Context) error {
		err := workflow.Do(ctx, "work", func(context.Context) error { return nil }, nil)
		time.Sleep(time.Hour)
		return err
	},
	"in a strand": func(ctx workflow.Context) error {
		group, _ := workflow.NewGroup(ctx)
		group.Go(func(workflow.Context) error { <-make(chan int); return nil })
		return group.Wait()
	},
}

// blockingEnv makes TestBlockingCode its own child, which executes one of them.
const blockingEnv = "REPRISE_TEST_BLOCKING"

// TestBlockingCode: code that blocks or sleeps fails its test, with the workflow and the line, and
// neither hangs nor ends the tests beside it.
func TestBlockingCode(t *testing.T) {
	if name := os.Getenv(blockingEnv); name != "" {
		runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, desk, func(ctx workflow.Context, n int) (int, error) { return n, blockingCode[name](ctx) }, nil)
			runtimetest.Start(e, desk, 7, nil).Must()
		})
		return
	}
	for name := range blockingCode {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			child := exec.Command(os.Args[0], "-test.run=^TestBlocking(Code|Sibling)$", "-test.v", "-test.timeout=60s")
			child.Env = append(os.Environ(), blockingEnv+"="+name)
			out, err := child.CombinedOutput()
			if err == nil {
				t.Error("the test has passed")
			}
			for _, want := range []string{
				"the code of workflow desk, run ", "blocks at runtimetest_test.init.func", "(blocking_test.go:", "use workflow.Sleep, or put into a step",
				"--- FAIL: TestBlockingCode", "--- PASS: TestBlockingSibling",
			} {
				if !strings.Contains(string(out), want) {
					t.Errorf("the output has no %q", want)
				}
			}
			for _, bad := range []string{"panic: ", "test timed out"} {
				if strings.Contains(string(out), bad) {
					t.Errorf("the output has %q", bad)
				}
			}
			if t.Failed() {
				t.Logf("%s", out)
			}
		})
	}
}

// TestBlockingSibling passes, in the same process, after the one that fails.
func TestBlockingSibling(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, desk, func(ctx workflow.Context, n int) (int, error) { return n, workflow.Sleep(ctx, time.Hour) }, nil)
		if got := runtimetest.Start(e, desk, 7, nil).Must(); got != 7 || e.Elapsed() != time.Hour {
			e.Errorf("got %d after %s", got, e.Elapsed())
		}
	})
}
