package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// heldWorld is a node with runs, and a transaction of somebody else.
type heldWorld struct {
	t     *testing.T
	j     *driver.Journal
	node  journal.NodeID
	conn  *pgx.Conn
	other pgx.Tx
}

const heldRuns = 20

func newHeldWorld(t *testing.T) *heldWorld {
	t.Helper()
	dsn := pgtest.New(t)
	j := driver.New(open(t, dsn, nil), nil)
	w := &heldWorld{t: t, j: j, node: join(t, j), conn: connect(t, dsn)}
	w.begin()
	return w
}

func (w *heldWorld) begin() {
	w.t.Helper()
	var err error
	if w.other, err = w.conn.Begin(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// release ends the other transaction, and begins another one.
func (w *heldWorld) release() {
	w.t.Helper()
	if err := w.other.Rollback(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.begin()
}

// lock executes a statement in the other transaction.
func (w *heldWorld) lock(sql string, args ...any) {
	w.t.Helper()
	if _, err := w.other.Exec(w.t.Context(), sql, args...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *heldWorld) lockTask(run journal.RunID) {
	w.t.Helper()
	w.lock("SELECT FROM reprise.tasks WHERE run_id = $1 FOR UPDATE", run.String())
}

// impatient is the context of calls that wait for nobody. They would wait for longer than it lasts.
func (w *heldWorld) impatient() context.Context {
	ctx, cancel := context.WithTimeout(driver.Impatient(w.t.Context()), 20*time.Second)
	w.t.Cleanup(cancel)
	return ctx
}

// runs starts runs whose first turn is written.
func (w *heldWorld) runs() []driver.Commit {
	w.t.Helper()
	list := make([]driver.Commit, heldRuns)
	for i := range list {
		list[i] = commitOf(w.j, born(w.t, w.j, w.node), keep, began("a"))
	}
	w.commit(w.t.Context(), list)
	return list
}

// commit submits commits and checks which are held, by their places.
func (w *heldWorld) commit(ctx context.Context, list []driver.Commit, held ...int) {
	w.t.Helper()
	out, err := w.j.Commit(ctx, list)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range out {
		want := error(nil)
		for _, at := range held {
			if at == i || at < 0 {
				want = driver.ErrHeld
			}
		}
		if !errors.Is(out[i].Err, want) {
			w.t.Errorf("member %d: %v, want %v", i, out[i].Err, want)
		}
	}
}

// Of a batch of turns those are not written whose runs somebody has locked, wherever they stand.
// The others are, and those afterwards, submitted again as they are.
func TestOneHeldRunHoldsUpNoBatch(t *testing.T) {
	t.Parallel()
	w := newHeldWorld(t)
	turns := map[string]func(i int, c driver.Commit) driver.Commit{
		"all stay":  func(_ int, c driver.Commit) driver.Commit { return after(c, keep, stepDone(1, "a")) },
		"all close": func(_ int, c driver.Commit) driver.Commit { return after(c, closing, stepDone(1, "a"), completed()) },
		"of all kinds": func(i int, c driver.Commit) driver.Commit {
			next := []driver.Next{keep, {Kind: driver.NextPark}, {Kind: driver.NextRelease}}[i%3]
			return after(c, next, stepDone(1, "a"))
		},
		"with messages": func(i int, c driver.Commit) driver.Commit {
			c = after(c, keep, stepDone(1, "a"))
			c.Messages = []journal.Message{{Run: c.Run, Kind: journal.MessageSignal, Name: "s", Key: fmt.Sprint(i)}}
			return c
		},
	}
	for name, turn := range turns {
		for _, place := range []int{0, heldRuns / 2, heldRuns - 1} {
			t.Run(fmt.Sprint(name, ", ", place), func(t *testing.T) {
				w.t = t
				list := w.runs()
				for i := range list {
					list[i] = turn(i, list[i])
				}
				w.lockTask(list[place].Run)
				w.commit(w.impatient(), list, place)
				w.release()
				w.commit(w.impatient(), list[place:place+1])
			})
		}
	}
}

// Of a batch with many held runs beside each other the others are written all the same.
func TestManyHeldRunsHoldUpNoBatch(t *testing.T) {
	t.Parallel()
	w := newHeldWorld(t)
	list := w.runs()
	for i := range list {
		if list[i] = after(list[i], keep, stepDone(1, "a")); i < 6 {
			w.lockTask(list[i].Run)
		}
	}
	w.commit(w.impatient(), list, 0, 1, 2, 3, 4, 5)
	w.release()
	w.commit(w.impatient(), list[:6])
}

// However many runs somebody has locked, of the calls that are each about one of them one waits; the
// others are told, whether they write a turn, send a message or start a run.
func TestOneCallAtATimeWaitsForAHeldRow(t *testing.T) {
	t.Parallel()
	w := newHeldWorld(t)
	list := w.runs()[:5]
	for i := range list {
		list[i] = after(list[i], closing, stepDone(1, "a"), completed())
		w.lockTask(list[i].Run)
	}
	if _, err := w.j.Start(t.Context(), postgres.InTx(w.other), []journal.Start{{Workflow: "flow", Key: "k"}}); err != nil {
		t.Fatal(err)
	}
	calls := map[string]func() error{}
	for i := range list {
		calls[fmt.Sprint("turn ", i)] = func() error {
			out, err := w.j.Commit(w.impatient(), list[i:i+1])
			return errors.Join(err, out[0].Err)
		}
	}
	calls["message"] = func() error {
		out, err := w.j.Send(w.impatient(), nil, []journal.Message{{Run: list[0].Run, Kind: journal.MessageSignal, Name: "s", Key: "1"}})
		return errors.Join(err, out[0].Err)
	}
	calls["start"] = func() error {
		out, err := w.j.Start(w.impatient(), nil, []journal.Start{{Workflow: "flow", Key: "k"}})
		return errors.Join(err, out[0].Err)
	}
	answers := make(chan error, len(calls))
	for name, call := range calls {
		go func() {
			if err := call(); err != nil && !errors.Is(err, driver.ErrHeld) {
				answers <- fmt.Errorf("%s: %w", name, err)
			} else {
				answers <- err
			}
		}()
	}
	for range len(calls) - 1 {
		if err := <-answers; !errors.Is(err, driver.ErrHeld) {
			t.Errorf("got %v, want %v", err, driver.ErrHeld)
		}
	}
	select {
	case err := <-answers:
		t.Errorf("nobody waits: %v", err)
	default:
	}
	w.release()
	if err := <-answers; err != nil {
		t.Errorf("the one that has waited: %v", err)
	}
}

// A lock that is no run's holds up all that need it, and only for a moment: the lock of a node that
// somebody excludes, a table.
func TestALockOfAllIsHeldForAll(t *testing.T) {
	t.Parallel()
	w := newHeldWorld(t)
	list := w.runs()
	for i := range list {
		list[i] = after(list[i], keep, stepDone(1, "a"))
	}
	w.lock("LOCK TABLE reprise.tasks IN EXCLUSIVE MODE")
	w.commit(w.impatient(), list, -1)
	w.release()
	w.commit(w.impatient(), list)
}

// A patient call waits, and is carried out.
func TestAPatientBatchWaits(t *testing.T) {
	t.Parallel()
	w := newHeldWorld(t)
	list := w.runs()
	for i := range list {
		list[i] = after(list[i], keep, stepDone(1, "a"))
	}
	w.lockTask(list[3].Run)
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.commit(w.t.Context(), list)
	}()
	watch := connect(t, w.conn.Config().ConnString())
	eventually(t, "the batch has waited for longer than an impatient one does", func() bool {
		return query[bool](t, watch, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'
			AND datname = current_database() AND query_start < clock_timestamp() - interval '500 ms')`)
	})
	select {
	case <-done:
		t.Error("the batch did not wait")
	default:
	}
	w.release()
	<-done
}

// Messages to a run that somebody has locked are left out of their batch.
func TestOneHeldReceiverHoldsUpNoBatch(t *testing.T) {
	t.Parallel()
	w := newHeldWorld(t)
	list := w.runs()
	for _, place := range []int{0, heldRuns / 2, heldRuns - 1} {
		messages := make([]journal.Message, heldRuns)
		for i := range messages {
			messages[i] = journal.Message{Run: list[i].Run, Kind: journal.MessageSignal, Name: "s", Key: fmt.Sprint(place, i)}
		}
		w.lockTask(list[place].Run)
		out, err := w.j.Send(w.impatient(), nil, messages)
		if err != nil {
			t.Fatal(err)
		}
		for i := range out {
			if held := i == place; held != errors.Is(out[i].Err, driver.ErrHeld) || !held && out[i].Number == 0 {
				t.Errorf("message %d, held is %d: %+v", i, place, out[i])
			}
		}
		w.release()
		if again := send(t, w.j, messages[place]); again.Duplicate || again.Err != nil {
			t.Errorf("the message that was held, again: %+v", again)
		}
	}
}

// A key that an open transaction is about to take is decided when that ends. Other starts do not
// wait for it.
func TestOneHeldKeyHoldsUpNoBatch(t *testing.T) {
	t.Parallel()
	w := newHeldWorld(t)
	for _, place := range []int{0, heldRuns / 2, heldRuns - 1} {
		starts := make([]journal.Start, heldRuns)
		for i := range starts {
			starts[i] = journal.Start{ID: journal.NewRunID(), Workflow: "flow", Key: fmt.Sprintf("%d/%02d", place, i)}
		}
		first, err := w.j.Start(t.Context(), postgres.InTx(w.other), []journal.Start{{Workflow: "flow", Key: starts[place].Key}})
		if err != nil {
			t.Fatal(err)
		}
		out, err := w.j.Start(w.impatient(), nil, starts)
		if err != nil {
			t.Fatal(err)
		}
		for i := range out {
			if held := i == place; held != errors.Is(out[i].Err, driver.ErrHeld) || held == out[i].Created {
				t.Errorf("start %d, held is %d: %+v", i, place, out[i])
			}
		}
		if err := w.other.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.begin()
		if again := start(t, w.j, starts[place]); again.Created || again.Run != first[0].Run {
			t.Errorf("the start that was held, again: %+v, want run %s", again, first[0].Run)
		}
	}
}

// TestAHeldRunIsNoStoreThatIsAway: operators who give up on a run that somebody holds hear that it
// is held. A store that is away is asked again and again, for all runs of a job.
//
// One of two operators waits in the server. The other one asks again and again, and gives up here
// after the third refusal, with two seconds left before it asks once more: an operator who gives up
// on a question without an answer does not know what became of it.
func TestAHeldRunIsNoStoreThatIsAway(t *testing.T) {
	t.Parallel()
	w := newHeldWorld(t)
	run := w.runs()[0].Run
	w.lockTask(run)
	watch := connect(t, w.conn.Config().ConnString())
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	answers := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := w.j.Admin(ctx, driver.AdminAction{Run: run, Kind: driver.AdminPause})
			answers <- err
		}()
	}
	for range 3 {
		for _, waiting := range []int{2, 1} {
			eventually(t, fmt.Sprintf("%d operators wait in the server", waiting), func() bool {
				return query[int](t, watch, `SELECT count(*) FROM pg_stat_activity
					WHERE wait_event_type = 'Lock' AND datname = current_database()`) == waiting
			})
		}
	}
	giveUp()
	held := 0
	for range 2 {
		err := <-answers
		if errors.Is(err, driver.ErrHeld) {
			held++
		}
		if !errors.Is(err, context.Canceled) || errors.Is(err, journal.ErrUnavailable) {
			t.Errorf("an operator hears %v", err)
		}
	}
	if held != 1 { // the other one keeps its connection and waits in the server
		t.Errorf("%d operators hear that the run is held, want one", held)
	}
}
