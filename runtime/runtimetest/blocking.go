package runtimetest

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/runtime/internal/logkey"
)

// Workflow code that blocks, on a Go channel, in time.Sleep or wherever else the bubble's clock
// goes on without it, is found by that clock: it moves only while all goroutines of the bubble
// wait, and a turn of the code that is as it should be never waits. So the node of a test reports
// code whose turn takes any time at all, at once and with its line, and the test fails with that.
//
// Code that computes for long, or that waits for something outside of the bubble, stops the clock
// instead and is not found.

// turnMax is how long a turn may take by the bubble's clock: the shortest time that there is.
const turnMax = time.Nanosecond

// blockingWatcher is the handler of a node's log. It fails the test for code that blocks, and
// passes everything on.
type blockingWatcher struct {
	slog.Handler
	report func(*BlockingError)
}

func (w blockingWatcher) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn || w.Handler.Enabled(ctx, l)
}

func (w blockingWatcher) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == logkey.DoesNotAwait {
		text := map[string]string{}
		r.Attrs(func(a slog.Attr) bool {
			text[a.Key] = a.Value.String()
			return true
		})
		w.report(&BlockingError{Run: text[logkey.Run], Workflow: text[logkey.Workflow], At: text[logkey.At]})
	}
	if !w.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return w.Handler.Handle(ctx, r)
}

func (w blockingWatcher) WithAttrs(attrs []slog.Attr) slog.Handler {
	return blockingWatcher{w.Handler.WithAttrs(attrs), w.report}
}

func (w blockingWatcher) WithGroup(name string) slog.Handler {
	return blockingWatcher{w.Handler.WithGroup(name), w.report}
}

// BlockingError ends a test whose workflow code blocks: it sleeps, or waits for something that is
// not of package workflow.
type BlockingError struct {
	Run, Workflow string
	At            string // function (file.go:line)
}

func (e *BlockingError) Error() string {
	return fmt.Sprintf("the code of workflow %s, run %s, blocks at %s: use workflow.Sleep, or put into a step what waits or sleeps",
		e.Workflow, e.Run, e.At)
}

// survive is deferred around a bubble. A bubble whose goroutines wait for ever panics when its test
// has ended, which would end all tests of the package. If that is because code blocks, the test has
// failed already with its line, and the goroutines are left behind.
func survive(t *testing.T, blocking **BlockingError) {
	p := recover()
	if p == nil {
		return
	}
	if err, ok := p.(error); !ok || !strings.HasPrefix(err.Error(), "deadlock:") || *blocking == nil {
		panic(p)
	}
	t.Fail() // the bubble's own test has not told
}
