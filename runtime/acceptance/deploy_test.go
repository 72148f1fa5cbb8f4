package acceptance_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest/faulty"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// deployment is a database in a bubble whose clock jumps, with one node at a time: that of the code
// which is deployed. Unlike the kit for users' tests it lets runs block.
type deployment struct {
	*testing.T
	ctx     context.Context // bounds every wait
	db      *memory.Store
	options runtime.NodeOptions
	faults  *faulty.Options // nil: none
	faulty  *faulty.Store   // the store of the present node, nil without faults
	calls   map[string]int  // executions of each step; guarded by mu
	mu      sync.Mutex
	log     bytes.Buffer
	client  *runtime.Client // of another process
	stop    func()
}

// program is the code of root.
type program func(ctx workflow.Context, in string) (string, error)

// deployed runs fn in a bubble with virtual time. The node drains at the end.
func deployed(t *testing.T, fn func(d *deployment)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 30*24*time.Hour)
		defer cancel()
		d := &deployment{T: t, ctx: ctx, db: memory.New(nil), calls: map[string]int{}, stop: func() {}}
		d.options.Logger = slog.New(slog.NewTextHandler(&d.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		d.client = runtime.NewClient(journal.New(d.db, nil), &runtime.ClientOptions{Logger: d.options.Logger})
		defer func() {
			d.stop()
			d.db.Close()
			d.sleep(time.Minute) // what ends by the clock: throttles of dead letters, calls that are on their way
			if t.Failed() {
				t.Logf("log:\n%s", &d.log)
			}
		}()
		fn(d)
	})
}

// deploy drains the node and starts one with other code.
func (d *deployment) deploy(register func(n *runtime.Node)) {
	d.Helper()
	d.stop()
	peer := d.db.Peer()
	var store driver.Store = peer
	if d.faults != nil {
		d.faulty = faulty.New(peer, d.faults)
		store = d.faulty
	}
	n := runtime.NewNode(journal.New(store, nil), &d.options)
	register(n)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	d.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			d.Errorf("the node ended with %v", err)
		}
		peer.Close()
	})
	synctest.Wait()
}

// code deploys one workflow function.
func (d *deployment) code(fn program) {
	d.Helper()
	d.deploy(func(n *runtime.Node) { runtime.Handle(n, root, fn, nil) })
}

// sleep lets time pass, and then everything happen that is due.
func (d *deployment) sleep(t time.Duration) {
	time.Sleep(t)
	synctest.Wait()
}

// start starts a run of root and waits until it is idle.
func (d *deployment) start(in string, o *runtime.StartOptions) *runtime.Run[string] {
	d.Helper()
	run, err := runtime.Start(d.ctx, d.client, root, in, o)
	if err != nil {
		d.Fatal(err)
	}
	d.sleep(5 * time.Second)
	return run
}

// signal sends a run the signal that it waits for, and waits until it is idle.
func (d *deployment) signal(run *runtime.Run[string], what string) {
	d.Helper()
	if err := runtime.Signal(d.ctx, d.client, run.ID(), approved, what, nil); err != nil {
		d.Fatal(err)
	}
	d.sleep(5 * time.Second)
}

func (d *deployment) describe(run *runtime.Run[string]) *runtime.Description {
	d.Helper()
	got, err := d.client.Describe(d.ctx, run.ID())
	if err != nil {
		d.Fatal(err)
	}
	return got
}

func (d *deployment) history(run *runtime.Run[string]) []journal.Event {
	d.Helper()
	events, err := d.client.History(d.ctx, run.ID())
	if err != nil {
		d.Fatal(err)
	}
	return events
}

// wantBlocked fails the test unless the run is blocked by a problem that has all of these words.
func (d *deployment) wantBlocked(run *runtime.Run[string], words ...string) {
	d.Helper()
	got := d.describe(run).Run
	if got.Task == nil || got.Task.State != journal.Blocked || got.Status != journal.Open {
		d.Errorf("the run is %s with task %+v, want it blocked", got.Status, got.Task)
		return
	}
	for _, w := range words {
		if !strings.Contains(got.Task.Problem, w) {
			d.Errorf("the problem does not say %q: %s", w, got.Task.Problem)
		}
	}
}

// wantResult fails the test unless the run completes with this.
func (d *deployment) wantResult(run *runtime.Run[string], want string) {
	d.Helper()
	ctx, cancel := context.WithTimeout(d.ctx, 24*time.Hour)
	defer cancel()
	if got, err := run.Result(ctx); err != nil || got != want {
		d.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// do is a step whose executions are counted.
func (d *deployment) do(ctx workflow.Context, name string) error {
	_, err := workflow.Step(ctx, name, func(context.Context) (struct{}, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.calls[name]++
		return struct{}{}, nil
	}, nil)
	return err
}

func (d *deployment) called(name string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls[name]
}

// facts is a history without ids and times.
func facts(events []journal.Event) (list []string) {
	for i := range events {
		ev := &events[i]
		s := fmt.Sprintf("%d %s %s cmd %d, attempt %d, message %d:", ev.Seq, ev.Kind, ev.Name, ev.Cmd, ev.Attempt, ev.Inbox)
		for _, c := range ev.Issued {
			s += fmt.Sprintf(" %s %s %s %d;", c.Kind, c.Name, c.Detail, c.Target)
		}
		list = append(list, s)
	}
	return list
}

// nextLine is the file and line after the caller's, as problems name it.
func nextLine() string {
	_, file, line, _ := goruntime.Caller(1)
	return fmt.Sprintf("(%s:%d)", filepath.Base(file), line+1)
}
