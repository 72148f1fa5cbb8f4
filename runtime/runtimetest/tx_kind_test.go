package runtimetest_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// notebook is a database of no kind that the kit knows. A page of it is a transaction.
type notebook struct {
	e         *runtimetest.Env
	committed []string
	mu        sync.Mutex
	ends      []string // of each page that was begun
}

type page struct {
	book  *notebook
	life  context.Context // that it began with
	lines []string
	over  bool
}

func (n *notebook) begin(ctx context.Context) (*page, error) { return &page{book: n, life: ctx}, nil }

func (p *page) Commit(ctx context.Context) error {
	p.book.committed = append(p.book.committed, p.lines...)
	return p.end(ctx, "commit")
}

func (p *page) Rollback(ctx context.Context) error { return p.end(ctx, "rollback") }

// end looks at what the kit owes to every transaction: one end, by a context that nobody cancels, and
// until then the context that it began with.
func (p *page) end(ctx context.Context, how string) error {
	switch {
	case p.over:
		p.book.e.Errorf("a page is ended again, by %s", how)
	case ctx.Done() != nil:
		p.book.e.Errorf("a %s may be interrupted", how)
	case p.life.Err() != nil:
		p.book.e.Errorf("before its %s a page had lost its context", how)
	}
	context.AfterFunc(p.life, func() {
		p.book.mu.Lock()
		defer p.book.mu.Unlock()
		p.book.ends = append(p.book.ends, how)
	})
	p.over = true
	return nil
}

// ended are the ends so far.
func (n *notebook) ended() []string {
	synctest.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.ends)
}

// TestTxFromOfAnyKind: a transaction is what has Commit and Rollback. Each is ended once, and its
// context after it.
func TestTxFromOfAnyKind(t *testing.T) {
	t.Parallel()
	var all []string
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		n := &notebook{e: e}
		runtimetest.TxFrom(e, n.begin)
		runtimetest.Handle(e, book, func(ctx workflow.Context, _ int) (int, error) {
			return workflow.StepTx(ctx, "write", func(ctx context.Context, p *page) (int, error) {
				p.lines = append(p.lines, "written")
				if a, _ := workflow.StepInfo(ctx); a.Attempt == 1 {
					return 0, errors.New("the pen is empty")
				}
				return 1, nil
			}, nil)
		}, nil)
		runtimetest.Start(e, book, 1, nil).Must()
		ends := n.ended()
		if !slices.Equal(n.committed, []string{"written"}) || len(ends) != len(e.Calls("write")) {
			e.Errorf("%q was committed, and pages ended by %q, for %d executions", n.committed, ends, len(e.Calls("write")))
		}
		all = append(all, ends...)
	})
	if !slices.Contains(all, "rollback") || !slices.Contains(all, "commit") {
		t.Errorf("pages ended by %q", all)
	}
}

// TestTxFromWaits: an attempt that waits for its transaction, be it to begin or for the place, ends
// when it has to.
func TestTxFromWaits(t *testing.T) {
	t.Parallel()
	runtimetest.Test(t, func(e *runtimetest.Env) {
		n, begun := &notebook{e: e}, 0
		runtimetest.TxFrom(e, func(ctx context.Context) (*page, error) {
			if begun++; begun == 1 { // as of a pool of which all connections are in use
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return n.begin(ctx)
		})
		runtimetest.Handle(e, book, func(ctx workflow.Context, patience int) (int, error) {
			return workflow.StepTx(ctx, "write", func(context.Context, *page) (int, error) {
				time.Sleep(time.Hour)
				return patience, nil
			}, &workflow.StepOptions{Timeout: time.Duration(patience) * time.Minute})
		}, nil)
		first := runtimetest.Start(e, book, 1000, nil)
		e.Sleep(time.Minute)
		e.Crash()
		e.Sleep(time.Minute)
		second := runtimetest.Start(e, book, 10, nil)
		if _, err := second.Result(); err == nil || !strings.Contains(err.Error(), "ran out of time") || e.Elapsed().Round(time.Minute) != 12*time.Minute {
			e.Errorf("the second run ended with %v after %s", err, e.Elapsed())
		}
		first.Must()
		if ends := n.ended(); !slices.Equal(ends, []string{"commit"}) || begun != 2 {
			e.Errorf("%d pages were begun, and ended by %q", begun, ends)
		}
	})
}

// sealedPage is a page on which no SQL can be executed.
type sealedPage struct{ *page }

func (sealedPage) ExecContext(context.Context, string, ...any) (sql.Result, error) {
	return nil, errors.New("it is sealed")
}

// Rollback says that it was called.
func (p sealedPage) Rollback(ctx context.Context) error {
	p.book.e.Log("the page is thrown away")
	return p.page.Rollback(ctx)
}
