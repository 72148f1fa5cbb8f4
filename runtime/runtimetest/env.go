package runtimetest

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/replaytest"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// Env is a store in memory, a node and a client, inside a bubble of testing/synctest. [Test] and
// [EveryCrash] make it, and it ends with their function. It is the test's testing.TB, so a test
// uses it for its asserts.
//
// The client is a process of its own: it has another connection to the store than the node, and a
// crash of the node does not touch it. Node and client start with the first call that needs them,
// so that what is registered and set before is known to them.
//
// Everything that Env starts ends before Test returns, because a bubble must not be left with
// goroutines in it: nodes are drained, callbacks waited for, and time passes until every step has
// returned.
type Env struct {
	testing.TB

	// Node and Journal are the options of nodes; they may be changed before the first run is
	// started. The kit sets Lease, Poll, Drain and WarmIdle, whose defaults are for wall clocks.
	// Node.Interceptors are also around the calls of the test's client.
	Node    runtime.NodeOptions
	Journal journal.Options
	// EveryPrefix has the check in the end replay every prefix of long histories too, see
	// replaytest.Registry.EveryPrefix.
	EveryPrefix bool
	// Patience is how long Run.Result waits, by the bubble's clock, before it fails the test;
	// default 400 days.
	Patience time.Duration

	db     *memory.Store // the client's connection
	began  time.Time
	point  point
	client *runtime.Client // nil before the first use

	// swap is held while one process takes another's place. It is a channel because a goroutine
	// that waits for a mutex stops the bubble's clock, and the node that ends meanwhile may need
	// the clock to end.
	swap chan struct{}

	ctx  context.Context // ends when the test cannot continue
	fail context.CancelCauseFunc

	mu            sync.Mutex
	registrations []func(*runtime.Node)
	definitions   []*replay.Definition // of Handle
	code          replaytest.Registry  // the same, intercepted as by the node; empty before the first run
	routes        []journal.Route      // of Handle
	txs           *txSource            // of TxFrom, nil without; set before the first process
	process       *process
	closing       bool
	blocking      *BlockingError
	commits       int
	fakes         map[string]fake
	failures      map[string][]error
	calls         []*Call
	sealed        map[journal.RunID][]*replaytest.History // of earlier generations
	timers        []*time.Timer
	log           bytes.Buffer

	callbacks sync.WaitGroup
}

// Test runs fn in a bubble of testing/synctest with an Env of its own. When fn has returned it ends
// the node and checks every run, as the package's documentation says. The rules of synctest.Test
// hold for t: no parallel tests, no subtests inside.
func Test(t *testing.T, fn func(e *Env)) {
	t.Helper()
	test(t, point{}, fn)
}

// test runs fn with a crash at p, and returns how many commits there were.
func test(t *testing.T, p point, fn func(*Env)) (commits int) {
	t.Helper()
	e := &Env{}
	defer survive(t, &e.blocking)
	resolveOutside()
	synctest.Test(t, func(t *testing.T) {
		*e = Env{
			TB: t, db: memory.New(nil), began: time.Now(), point: p, swap: make(chan struct{}, 1),
			fakes: map[string]fake{}, failures: map[string][]error{}, Patience: patienceDefault,
			sealed: map[journal.RunID][]*replaytest.History{},
		}
		e.ctx, e.fail = context.WithCancelCause(context.Background())
		defer func() { commits = e.commits }()
		defer e.close()
		fn(e)
	})
	return commits
}

// Handle registers a workflow function with every node of the test, as runtime.Handle does, and has
// the histories of its runs checked against it in the end. It must be called before the first run
// is started. A workflow that is served in several queues is registered for each, with the same
// function. o may be nil.
func Handle[In, Out any](e *Env, name workflow.Name[In, Out], fn func(workflow.Context, In) (Out, error), o *runtime.HandleOptions) {
	e.Helper()
	route := journal.Route{Queue: journal.DefaultQueue, Workflow: string(name), Version: 1}
	if o != nil && o.Version != 0 {
		route.Version = o.Version
	}
	if o != nil && o.Queue != "" {
		route.Queue = o.Queue
	}
	if slices.Contains(e.routes, route) {
		e.Fatalf("workflow %s is registered twice", route)
	}
	e.routes = append(e.routes, route)
	e.Register(func(n *runtime.Node) { runtime.Handle(n, name, fn, o) })
	def := workflow.Define(name, route.Version, fn)
	if o != nil {
		workflow.OnFailure(def, o.OnFailure)
	}
	if !slices.ContainsFunc(e.definitions, func(d *replay.Definition) bool { return d.Name == def.Name && d.Version == def.Version }) {
		e.definitions = append(e.definitions, def)
	}
}

// Register calls fn with every node of the test, for a program that has a function to register its
// workflows. It must be called before the first run is started.
func (e *Env) Register(fn func(*runtime.Node)) {
	e.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.process != nil {
		e.Fatal("workflows must be registered before the first run is started")
	}
	e.registrations = append(e.registrations, fn)
}

// Client returns a client that survives crashes of the node, as one in another process does. The
// first call starts the node, and waits until it has joined: what is started before waits for a
// node, and the engine warns of that.
func (e *Env) Client() *runtime.Client {
	first, c := e.open()
	if first != nil {
		select {
		case <-first.joined:
		case <-first.ended: // its error has failed the test
		}
	}
	return c
}

// open returns the client, and the first process if it has begun with this call.
func (e *Env) open() (first *process, c *runtime.Client) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.process == nil {
		e.register()
		e.process = e.boot(nil)
		first = e.process
		o := e.Journal
		if o.Logger == nil {
			o.Logger = e.logger("client", nil)
		}
		e.client = runtime.NewClient(journal.New(e.db, &o), &runtime.ClientOptions{
			Poll: pollEvery, Logger: e.logger("client", nil), Interceptors: e.Node.Interceptors,
		})
	}
	return first, e.client
}

// register makes the code that histories are checked with. The caller holds e.mu.
func (e *Env) register() {
	e.code.Codec, e.code.EveryPrefix = e.Journal.Codec, e.EveryPrefix
	var around []workflow.Interceptor
	for _, i := range e.Node.Interceptors {
		around = append(around, i.Workflow)
	}
	for _, def := range e.definitions {
		e.code.Add(workflow.Intercept(def, around...))
	}
}

// current returns the process that works now, or one that has just crashed and is about to be
// replaced.
func (e *Env) current() *process {
	e.Client()
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.process
}

// Elapsed is the time since the test began, by the bubble's clock, in whole microseconds as stores
// keep it.
func (e *Env) Elapsed() time.Duration { return time.Since(e.began).Truncate(time.Microsecond) }

// Sleep lets time pass, and returns when everything that is due by then has happened.
func (e *Env) Sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// After calls fn on another goroutine when d has passed, unless the test has ended by then. It does
// not wait. What else is due at the same moment may happen before or after.
func (e *Env) After(d time.Duration, fn func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.callbacks.Add(1)
	e.timers = append(e.timers, time.AfterFunc(d, func() {
		defer e.callbacks.Done()
		fn()
	}))
}

// close ends everything that the test started, and checks the runs. Order matters: callbacks may
// use the node, so they end first; the checks read the store, so it is closed last; and a crash
// that is under way must have put its new node in place, or nobody would end that one.
func (e *Env) close() {
	e.mu.Lock()
	e.closing = true
	timers := e.timers
	e.mu.Unlock()
	for _, t := range timers {
		if t.Stop() {
			e.callbacks.Done()
		}
	}
	e.callbacks.Wait()
	e.swap <- struct{}{} // nobody takes the last process's place any more
	e.mu.Lock()
	last := e.process
	e.mu.Unlock()
	if last != nil {
		last.cancel()
		<-last.ended
	}
	<-e.swap
	if last != nil && !e.Failed() {
		e.check()
	}
	e.db.Close()
	e.fail(nil)
	e.rest()
	if e.Failed() {
		e.Logf("the engine's log:\n%s", e.lastLog())
	}
}

// rest lets time pass until everything has ended, because the clock stands still once the test's
// function has returned. The actor library has timers of its own, and a step may sleep whatever its
// context says.
func (e *Env) rest() {
	for d := time.Second; ; d *= 2 {
		e.Sleep(d)
		running := e.running()
		if len(running) == 0 {
			return
		}
		if d > restMax {
			e.Errorf("steps that never return: %q", running)
			return
		}
	}
}

// running returns the names of the steps whose bodies have not returned.
func (e *Env) running() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var steps []string
	for _, c := range e.calls {
		if !c.over {
			steps = append(steps, c.Step)
		}
	}
	return steps
}

// stop fails the test and ends every wait for a result. It may be called on any goroutine, where
// Fatal may not.
func (e *Env) stop(cause error) {
	e.Error(cause)
	e.fail(cause)
}

// blocks fails the test. The code may never return.
func (e *Env) blocks(err *BlockingError) {
	e.mu.Lock()
	first := e.blocking == nil
	if first {
		e.blocking = err
	}
	e.mu.Unlock()
	if first {
		e.stop(err)
	}
}

// logger returns a logger whose last lines are shown if the test fails. Once dead is true it writes
// nothing; nil for never.
func (e *Env) logger(name string, dead *atomic.Bool) *slog.Logger {
	return slog.New(slog.NewTextHandler(logWriter{e, dead}, &slog.HandlerOptions{Level: slog.LevelDebug})).With("process", name)
}

type logWriter struct {
	e    *Env
	dead *atomic.Bool
}

func (w logWriter) Write(p []byte) (int, error) {
	if w.dead != nil && w.dead.Load() {
		return len(p), nil
	}
	w.e.mu.Lock()
	defer w.e.mu.Unlock()
	return w.e.log.Write(p)
}

func (e *Env) lastLog() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	lines := strings.SplitAfter(e.log.String(), "\n")
	return strings.Join(lines[max(0, len(lines)-logLinesMax):], "")
}
