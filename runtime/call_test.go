package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

type proceed = func(context.Context) error

// recorder is an interceptor of calls that keeps what it sees, and does with it what a test says.
type recorder struct {
	mu    sync.Mutex
	lines []string
	do    func(ctx context.Context, call *runtime.Call, next proceed) error // nil passes on
}

func (r *recorder) call(ctx context.Context, call *runtime.Call, next proceed) error {
	r.say("%s %q", call, fmt.Sprint(call.Payload))
	if r.do != nil {
		next = func(next proceed) proceed {
			return func(ctx context.Context) error { return r.do(ctx, call, next) }
		}(next)
	}
	err := next(ctx)
	r.say("%s ended: %v", call.Kind, err)
	return err
}

func (r *recorder) say(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

// take returns what was said since the last time.
func (r *recorder) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := strings.Join(r.lines, "\n")
	r.lines = nil
	return text
}

var errTenant = errors.New("no tenant")

// door is a client of tills, which are tended by a node, behind an interceptor.
type door struct {
	*recorder
	ctx    context.Context
	client *runtime.Client // the intercepted one
	plain  *runtime.Client
	node   *clustertest.Node // with the same interceptor
	c      *clustertest.Cluster
}

func newDoor(t *testing.T) *door {
	c := clustertest.New(t)
	d := &door{recorder: &recorder{}, ctx: clustertest.Context(t), c: c}
	list := []runtime.Interceptor{{Client: d.call}}
	o := c.Options()
	o.Interceptors = list
	d.node = c.Run(o, func(n *runtime.Node) { handleTill(n); handleEcho(n); registerInTx(n) })
	d.client = runtime.NewClient(c.Journal, &runtime.ClientOptions{Interceptors: list})
	d.plain = runtime.NewClient(c.Journal, nil)
	return d
}

// calls are all calls that are intercepted, about a run.
func (d *door) calls(run journal.RunID) map[string]func() error {
	return map[string]func() error{
		"signal": func() error { return runtime.Signal(d.ctx, d.client, run, shut, 7, nil) },
		"update": func() error { _, err := runtime.CallUpdate(d.ctx, d.client, run, pay, 7, nil); return err },
		"sent update": func() error {
			h, err := runtime.SendUpdate(d.ctx, d.client, run, pay, 7, nil)
			if err == nil {
				_, err = h.Result(d.ctx)
			}
			return err
		},
		"query":     func() error { _, err := runtime.Query(d.ctx, d.node.Node, run, read, 7); return err },
		"cancel":    func() error { return d.client.Cancel(d.ctx, run, "7") },
		"terminate": func() error { return d.client.Terminate(d.ctx, run, "7") },
		"resume":    func() error { return d.client.Resume(d.ctx, run) },
		"delete":    func() error { return d.client.Delete(d.ctx, run) },
	}
}

// TestCallsAreIntercepted: each call is seen with its kind, its run and its value, and an
// interceptor that refuses it leaves no trace of it. The caller finds the interceptor's error.
func TestCallsAreIntercepted(t *testing.T) {
	d := newDoor(t)
	run, err := runtime.Start(d.ctx, d.client, till, 1, nil)
	clustertest.MustStart(t, run, err)
	id := run.ID()
	if got, want := d.take(), "start of till \"1\"\nstart ended: <nil>"; got != want {
		t.Errorf("a start:\n%s", got)
	}
	clustertest.Parked(t, d.plain, id)
	before, err := d.plain.History(d.ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	d.do = func(context.Context, *runtime.Call, proceed) error { return errTenant }
	for name, call := range d.calls(id) {
		kind, _ := strings.CutPrefix(name, "sent ")
		what, seen := kind+" of run "+id.String(), ""
		switch kind {
		case "signal":
			what = "signal shut to run " + id.String()
		case "update":
			what = "update pay to run " + id.String()
		case "query":
			what = "query read to run " + id.String()
		}
		if seen = "7"; kind == "resume" || kind == "delete" {
			seen = "<nil>"
		}
		err := call()
		if !errors.Is(err, errTenant) || err.Error() != what+" was refused: no tenant" {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(fmt.Sprintf("%s %q\n%s ended: no tenant", what, seen, kind), d.take()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	after, err := d.plain.History(d.ctx, id)
	desc, err2 := d.plain.Describe(d.ctx, id)
	if diff := cmp.Diff(before, after); diff != "" || err != nil || err2 != nil || desc.Unread != 0 || desc.Run.Status != journal.Open {
		t.Errorf("refused calls left something: %v, %v, %v, %+v", diff, err, err2, desc)
	}
	d.do = func(ctx context.Context, _ *runtime.Call, next proceed) error {
		return errors.Join(next(ctx), errTenant)
	}
	if sum, err := runtime.CallUpdate(d.ctx, d.client, id, pay, 7, nil); sum != 0 || err == nil || err.Error() != errTenant.Error() {
		t.Errorf("an answer with an error of the interceptor: %d, %v", sum, err)
	}
	if sum, err := runtime.Query(d.ctx, d.node.Node, id, read, 0); sum != 0 || !errors.Is(err, errTenant) {
		t.Errorf("an answer with an error of the interceptor: %d, %v", sum, err)
	}
	d.do = nil
	order := []string{"update", "sent update", "query", "resume", "signal"}
	for _, name := range order {
		if err := d.calls(id)[name](); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := run.Result(d.ctx); err != nil {
		t.Error(err)
	}
	if err := d.calls(id)["delete"](); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"cancel", "terminate"} {
		if err := d.calls(id)[name](); !errors.Is(err, journal.ErrNotFound) || strings.Contains(err.Error(), "refused") {
			t.Errorf("%s of a run that is gone: %v", name, err)
		}
	}
}

// TestStartsAreIntercepted: a refused start stores nothing; an interceptor may change the options
// of a copy; the run of an existing key is the call's; what a start does stays done if its
// interceptor fails afterwards.
func TestStartsAreIntercepted(t *testing.T) {
	d := newDoor(t)
	start := func(key string, labels map[string]string) (*runtime.Run[string], error) {
		return runtime.Start(d.ctx, d.client, greet, "x", &runtime.StartOptions{Key: key, Labels: labels})
	}
	d.do = func(context.Context, *runtime.Call, proceed) error { return errTenant }
	if run, err := start("refused", nil); run != nil || !errors.Is(err, errTenant) || err.Error() != "start of greet was refused: no tenant" {
		t.Errorf("a refused start: %v, %v", run, err)
	}
	if _, err := d.plain.FindKey(d.ctx, "refused"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("a refused start is there: %v", err)
	}
	var of journal.RunID
	d.do = func(ctx context.Context, call *runtime.Call, next proceed) error {
		if call.Run != (journal.RunID{}) {
			t.Errorf("before the start its run is %s", call.Run)
		}
		call.Start.Labels["tenant"], call.Start.Priority = "acme", 5
		err := next(ctx)
		of = call.Run
		return err
	}
	mine := map[string]string{"mine": "1"}
	first, err := start("a", mine)
	if err != nil || of != first.ID() || !first.Created() || len(mine) != 1 {
		t.Fatalf("%v, run %s, the caller's labels are %v", err, of, mine)
	}
	desc, err := d.plain.Describe(d.ctx, first.ID())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"mine": "1", "tenant": "acme"}, desc.Run.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	clustertest.MustResult(t, first)
	again, err := start("a", nil)
	if err != nil || of != first.ID() || again.ID() != first.ID() || again.Created() {
		t.Errorf("a key that is there: %v, run %s", err, of)
	}
	if _, err := runtime.Start(d.ctx, d.client, greet, "x", nil); err != nil { // without options
		t.Error(err)
	}
	d.do = func(ctx context.Context, _ *runtime.Call, next proceed) error {
		return errors.Join(next(ctx), errTenant)
	}
	if run, err := start("late", nil); run != nil || err == nil || err.Error() != errTenant.Error() {
		t.Errorf("an error after the start: %v, %v", run, err)
	}
	if _, err := d.plain.FindKey(d.ctx, "late"); err != nil {
		t.Errorf("what the start did is gone: %v", err)
	}
	d.do = func(ctx context.Context, call *runtime.Call, next proceed) error {
		call.Start = &runtime.StartOptions{Key: "of the interceptor"}
		return next(ctx)
	}
	if _, err := start("of the caller", nil); err != nil {
		t.Error(err)
	}
	if _, err := d.plain.FindKey(d.ctx, "of the interceptor"); err != nil {
		t.Error(err)
	}
	d.do = func(_ context.Context, call *runtime.Call, next proceed) error {
		ended, cancel := context.WithCancel(d.ctx)
		cancel()
		return next(ended)
	}
	if _, err := start("", nil); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "refused") {
		t.Errorf("the context of next is not the call's: %v", err)
	}
}

// TestStartsInABatch: starts at once share their batches, and no interceptor changes the start of
// another, even if they share their options.
func TestStartsInABatch(t *testing.T) {
	d := newDoor(t)
	d.do = func(ctx context.Context, call *runtime.Call, next proceed) error {
		who := call.Payload.(string)
		if who == "7" {
			return errTenant
		}
		call.Start.Labels["who"] = who
		return next(ctx)
	}
	o := &runtime.StartOptions{Labels: map[string]string{"shared": "yes"}}
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			client := []*runtime.Client{d.client, d.node.Client()}[i%2]
			run, err := runtime.Start(d.ctx, client, greet, fmt.Sprint(i), o)
			if i == 7 {
				if !errors.Is(err, errTenant) {
					t.Error(err)
				}
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
			desc, err := d.plain.Describe(d.ctx, run.ID())
			if err != nil || desc.Run.Labels["who"] != fmt.Sprint(i) || desc.Run.Labels["shared"] != "yes" {
				t.Errorf("start %d: %v, %v", i, desc.Run.Labels, err)
			}
		})
	}
	wg.Wait()
	if len(o.Labels) != 1 {
		t.Errorf("the caller's labels are %v", o.Labels)
	}
}

// TestStartsWithAMessageAreIntercepted: they are one call, with the message in it. What the
// interceptor does to the options counts, and is checked after it.
func TestStartsWithAMessageAreIntercepted(t *testing.T) {
	d := newDoor(t)
	keyed := func(ctx context.Context, call *runtime.Call, next proceed) error {
		call.Start.Key = "tenant/" + fmt.Sprint(call.With.Payload)
		return next(ctx)
	}
	d.do = keyed
	for kind, call := range map[string]func(o *runtime.StartOptions) (journal.RunID, error){
		"signal approved": func(o *runtime.StartOptions) (id journal.RunID, err error) {
			run, err := runtime.SignalWithStart(d.ctx, d.client, waiter, "in", approved, "yes", o, nil)
			if err == nil {
				id = run.ID()
			}
			return id, err
		},
		"update pay": func(o *runtime.StartOptions) (id journal.RunID, err error) {
			run, h, err := runtime.UpdateWithStart(d.ctx, d.client, till, 1, pay, 41, o, nil)
			if err != nil {
				return id, err
			}
			if sum, err := h.Result(d.ctx); err != nil || sum != 42 {
				t.Errorf("the answer is %d, %v", sum, err)
			}
			return run.ID(), nil
		},
	} {
		d.take()
		id, err := call(nil)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		name, input, key := "waiter", "in", "tenant/yes"
		if kind == "update pay" {
			name, input, key = "till", "1", "tenant/41"
		}
		if got, want := d.take(), fmt.Sprintf("start of %s with %s %q\nstart ended: <nil>", name, kind, input); got != want {
			t.Errorf("seen:\n%s\nwant:\n%s", got, want)
		}
		if of, err := d.plain.FindKey(d.ctx, key); err != nil || of != id {
			t.Errorf("%s: the key leads to %s, %v", kind, of, err)
		}
		d.do = nil
		if _, err := call(nil); !errors.Is(err, journal.ErrInvalid) || !strings.Contains(err.Error(), "a key is required") || strings.Contains(err.Error(), "refused") {
			t.Errorf("%s without a key: %v", kind, err)
		}
		d.do = func(context.Context, *runtime.Call, proceed) error { return errTenant }
		if _, err := call(&runtime.StartOptions{Key: "refused"}); !errors.Is(err, errTenant) || err.Error() != fmt.Sprintf("start of %s with %s was refused: no tenant", name, kind) {
			t.Errorf("%s, refused: %v", kind, err)
		}
		if _, err := d.plain.FindKey(d.ctx, "refused"); !errors.Is(err, journal.ErrNotFound) {
			t.Errorf("a refused start is there: %v", err)
		}
		d.do = keyed
	}
}

// TestCallsInATransactionAreIntercepted: a refused start or signal leaves the caller's transaction
// as it was, and what is changed commits with it.
func TestCallsInATransactionAreIntercepted(t *testing.T) {
	d := newDoor(t)
	conn := d.c.Connect()
	tx, err := conn.Begin(d.ctx)
	if err != nil {
		t.Fatal(err)
	}
	in := postgres.InTx(tx)
	d.do = func(context.Context, *runtime.Call, proceed) error { return errTenant }
	if _, err := runtime.Start(d.ctx, d.client, waiter, "", &runtime.StartOptions{Key: "tx", Tx: in}); !errors.Is(err, errTenant) {
		t.Error(err)
	}
	d.do = func(ctx context.Context, call *runtime.Call, next proceed) error {
		if call.Kind == runtime.StartCall {
			if call.Start.Tx != in {
				t.Error("the interceptor does not see the transaction")
			}
			call.Start.Labels["tenant"] = "acme"
		}
		return next(ctx)
	}
	run, err := runtime.Start(d.ctx, d.client, waiter, "", &runtime.StartOptions{Key: "tx", Tx: in})
	clustertest.MustStart(t, run, err)
	if err := runtime.Signal(d.ctx, d.client, run.ID(), approved, "go", &runtime.SignalOptions{Tx: in}); err != nil {
		t.Error(err)
	}
	if err := tx.Commit(d.ctx); err != nil {
		t.Fatal(err)
	}
	if got := clustertest.MustResult(t, run); got != "go" || !run.Created() {
		t.Errorf("got %q", got)
	}
	if desc, err := d.plain.Describe(d.ctx, run.ID()); err != nil || desc.Run.Labels["tenant"] != "acme" {
		t.Errorf("%v, %v", desc.Run.Labels, err)
	}
}

// TestInterceptorsOfCalls: the first is outermost, nil parts are skipped, an error may be replaced,
// and a mistake is named. Calls of a step's body are intercepted, those of workflow code are not.
func TestInterceptorsOfCalls(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	var mu sync.Mutex
	var log []string
	layer := func(name string) runtime.Interceptor {
		return runtime.Interceptor{Client: func(ctx context.Context, call *runtime.Call, next proceed) error {
			mu.Lock()
			log = append(log, name+" "+call.Workflow)
			mu.Unlock()
			return next(ctx)
		}}
	}
	o := c.Options()
	o.Interceptors = []runtime.Interceptor{layer("a"), {}, layer("b")}
	const outer workflow.Name[string, string] = "outer"
	n := c.Run(o, func(n2 *runtime.Node) {
		o.Interceptors[1] = runtime.Interceptor{ // too late: the node has a list of its own
			Client:   func(context.Context, *runtime.Call, proceed) error { return errTenant },
			Workflow: func(workflow.Context, proceedIn) error { return errTenant },
			Step:     func(context.Context, proceed) error { return workflow.Permanent(errTenant) },
		}
		handleEcho(n2)
		runtime.Handle(n2, outer, func(ctx workflow.Context, in string) (string, error) {
			if _, err := workflow.Call(ctx, greet, in, nil); err != nil {
				return "", err
			}
			return in, workflow.Do(ctx, "starts", func(ctx context.Context) error {
				_, err := runtime.Start(ctx, n2.Client(), greet, in, &runtime.StartOptions{Key: workflow.IdempotencyKey(ctx)})
				return err
			}, nil)
		}, nil)
	})
	run, err := runtime.Start(ctx, n.Client(), outer, "x", nil)
	clustertest.MustResult(t, clustertest.MustStart(t, run, err))
	mu.Lock()
	if want := []string{"a outer", "b outer", "a greet", "b greet"}; !slices.Equal(log, want) {
		t.Errorf("called %v, want %v", log, want)
	}
	mu.Unlock()

	broken := func(do func(ctx context.Context, next proceed) error) *runtime.Client {
		return runtime.NewClient(c.Journal, &runtime.ClientOptions{Interceptors: []runtime.Interceptor{layer("a"), {
			Client: func(ctx context.Context, _ *runtime.Call, next proceed) error { return do(ctx, next) },
		}}})
	}
	for name, tc := range map[string]struct {
		do   func(ctx context.Context, next proceed) error
		want string
	}{
		"replaces":     {func(ctx context.Context, next proceed) error { _ = next(ctx); return errTenant }, "no tenant"},
		"swallows":     {func(ctx context.Context, next proceed) error { _ = next(ctx); return nil }, "returned nil although next had failed"},
		"does nothing": {func(context.Context, proceed) error { return nil }, "cancel of run 00000000-0000-0000-0000-000000000001 was refused: client interceptor runtime_test.TestInterceptorsOfCalls."},
		"nil context":  {func(_ context.Context, next proceed) error { return next(nil) }, "nil context"}, //nolint:staticcheck
	} {
		err := broken(tc.do).Cancel(ctx, journal.RunID{15: 1}, "")
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "swallows" && (!errors.Is(err, journal.ErrNotFound) || !errors.Is(err, journal.ErrInvalid)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
