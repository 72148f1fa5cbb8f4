package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// past is a cluster whose database can go back: its tables are copied, and put back later, while
// nodes live on it. That is what a fail-over to an asynchronous standby, a crash that loses the
// last commits, and a restored copy look like to a node, without the servers.
type past struct {
	*clustertest.Cluster
	conn   *pgx.Conn
	tables []string
}

func newPast(t *testing.T) *past {
	t.Helper()
	p := &past{Cluster: clustertest.New(t)}
	p.conn = p.Connect()
	rows, err := p.conn.Query(t.Context(), `select relname::text from pg_class where relnamespace = 'reprise'::regnamespace
		and relkind = 'r' and relname <> 'schema_migrations' order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	if p.tables, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *past) exec(sql string) {
	p.T.Helper()
	if _, err := p.conn.Exec(clustertest.Context(p.T), sql); err != nil {
		p.T.Fatalf("%s: %v", sql, err)
	}
}

// remember copies all tables, as of one moment.
func (p *past) remember() {
	p.T.Helper()
	var b strings.Builder
	b.WriteString("begin isolation level repeatable read; create schema past;")
	for _, table := range p.tables {
		fmt.Fprintf(&b, "create table past.%[1]s as select * from reprise.%[1]s;", table)
	}
	p.exec(b.String() + "commit")
}

// Whether sequences go back with the tables. A standby's are ahead; a restored dump's are as they
// were.
const (
	sequencesStay = false
	sequencesToo  = true
)

// goBack puts the copy in place: all that came after it has never been.
func (p *past) goBack(sequences bool) {
	p.T.Helper()
	if err := p.backOn(clustertest.Context(p.T), p.conn, sequences); err != nil {
		p.T.Fatal(err)
	}
}

// backOn is goBack on a connection. The nodes take their locks in an order of their own, which
// nobody made for somebody who locks whole tables: who is the victim of a deadlock tries again.
func (p *past) backOn(ctx context.Context, conn *pgx.Conn, sequences bool) error {
	for {
		_, err := conn.Exec(ctx, p.back(sequences))
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != deadlockDetected {
			return err
		}
		if _, err := conn.Exec(ctx, "rollback"); err != nil {
			return err
		}
	}
}

const deadlockDetected = "40P01"

// back is the statements of goBack. It locks tasks first, as commits do.
func (p *past) back(sequences bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "begin; lock table reprise.tasks, reprise.%s;", strings.Join(p.tables, ", reprise."))
	for _, table := range p.tables {
		fmt.Fprintf(&b, "delete from reprise.%[1]s; insert into reprise.%[1]s overriding system value select * from past.%[1]s;", table)
	}
	if sequences {
		b.WriteString(`select setval(pg_get_serial_sequence('reprise.nodes', 'id'), coalesce((select max(id) from past.nodes), 1),
			exists (select from past.nodes));`)
	}
	return b.String() + "commit"
}

// leaseShort makes a node renew, and compare, often enough for a test.
const leaseShort = 2 * time.Second

// node starts a node with a store of its own, as another process would have.
func (p *past) node(name string, lease time.Duration, register func(*runtime.Node)) *clustertest.Node {
	p.T.Helper()
	o := p.Options()
	o.Name, o.Lease = name, lease
	return p.Run(o, register)
}

// naps draws a value in each step, and sleeps between them.
const naps workflow.Name[int, []string] = "naps"

const napFor = 400 * time.Millisecond

func registerNaps(n *runtime.Node) {
	var drawn atomic.Int64
	runtime.Handle(n, naps, func(ctx workflow.Context, steps int) (all []string, err error) {
		for range steps {
			v, err := workflow.Step(ctx, "draw", func(context.Context) (string, error) {
				return fmt.Sprintf("%p-%d", n, drawn.Add(1)), nil
			}, nil)
			if err != nil {
				return nil, err
			}
			all = append(all, v)
			if err := workflow.Sleep(ctx, napFor); err != nil {
				return nil, err
			}
		}
		return all, nil
	}, nil)
}

// startNaps starts runs, a moment after each other so that several nodes claim some.
func (p *past) startNaps(client *runtime.Client, runs, steps int) []journal.RunID {
	p.T.Helper()
	var ids []journal.RunID
	for range runs {
		r, err := runtime.Start(clustertest.Context(p.T), client, naps, steps, nil)
		ids = append(ids, clustertest.MustStart(p.T, r, err).ID())
	}
	return ids
}

// drawn waits until every run has drawn so often.
func (p *past) drawn(runs []journal.RunID, times int) {
	p.T.Helper()
	p.until(fmt.Sprintf("each run has drawn %d times", times), fmt.Sprintf(
		`select count(*) = %d from (select from reprise.events where kind = 2 group by run_id having count(*) >= %d) x`, len(runs), times))
}

func (p *past) until(what, question string) {
	p.T.Helper()
	ctx := clustertest.Context(p.T)
	clustertest.Until(p.T, what, func() (yes bool) {
		if err := p.conn.QueryRow(ctx, question).Scan(&yes); err != nil {
			p.T.Fatal(err)
		}
		return yes
	})
}

// goesOnMax is far longer than the store's own looks at what stands still.
const goesOnMax = 75 * time.Second

// closed waits until the runs have ended, and wants each result to be what its history shows.
func (p *past) closed(client *runtime.Client, runs []journal.RunID) {
	p.T.Helper()
	ctx, cancel := context.WithTimeout(clustertest.Context(p.T), goesOnMax)
	defer cancel()
	var stuck, other int
	for _, id := range runs {
		if _, err := runtime.RunOf(client, naps, id).Result(ctx); err != nil {
			stuck++
			continue
		}
		var says, shows []string
		events, err := client.History(clustertest.Context(p.T), id)
		if err != nil {
			p.T.Fatal(err)
		}
		for _, e := range events {
			switch e.Kind {
			case journal.StepCompleted:
				var v string
				err = json.Unmarshal(e.Payload.Data, &v)
				shows = append(shows, v)
			case journal.RunCompleted:
				err = json.Unmarshal(e.Payload.Data, &says)
			}
			if err != nil {
				p.T.Fatal(err)
			}
		}
		if !slices.Equal(says, shows) {
			other++
			p.T.Logf("run %s returned %q, its history shows %q", id, says, shows)
		}
	}
	if stuck > 0 || other > 0 {
		p.T.Errorf("of %d runs %d stand still, and %d have a result that is not that of their history", len(runs), stuck, other)
	}
}

// TestARunGoesOnWhenTheStoreGoesBack: the node's memory is ahead of the store. The run goes on from
// what the store has, although its node never lost its lease.
func TestARunGoesOnWhenTheStoreGoesBack(t *testing.T) {
	p := newPast(t)
	n := p.node("a", leaseShort, registerNaps)
	runs := p.startNaps(n.Client(), 3, 8)
	p.drawn(runs, 2)
	p.remember()
	p.drawn(runs, 4)
	p.goBack(sequencesStay)
	p.closed(n.Client(), runs)
}

// TestNoRunGoesOnFromAHistoryThatIsGone: each of two nodes keeps runs warm whose last turns are
// lost. The other one repeats the turns with other outcomes, up to the same number of turns. Who
// claims a run again must not take its memory for the store's.
func TestNoRunGoesOnFromAHistoryThatIsGone(t *testing.T) {
	p := newPast(t)
	client := runtime.NewClient(p.Open(nil), nil)
	p.node("a", leaseShort, registerNaps)
	p.node("b", leaseShort, registerNaps)
	runs := p.startNaps(client, 60, 6)
	p.drawn(runs, 1)
	p.remember()
	p.drawn(runs, 3)
	p.goBack(sequencesStay)
	p.closed(client, runs)
}

// TestTwoNodesOfOneNumber: the store goes back to before a node joined, its sequences too, and the
// next node gets the number of the first. They are two nodes all the same.
func TestTwoNodesOfOneNumber(t *testing.T) {
	p := newPast(t)
	client := runtime.NewClient(p.Open(nil), nil)
	runs := p.startNaps(client, 20, 5)
	p.remember()
	p.node("a", leaseShort, registerNaps)
	p.drawn(runs, 2)
	p.goBack(sequencesToo)
	p.node("b", leaseShort, registerNaps)
	p.closed(client, runs)
}

const (
	listens workflow.Name[int, []string] = "listens"
	hint    workflow.Signal[string]      = "hint"
)

// TestAMessageIsNotConsumedUnderTheNumberOfALostOne: a node has a message in a commit when the store
// loses it. The commit is repeated; meanwhile another message may get the number. Every message
// that was acknowledged after the loss is received, and the history shows what was received.
func TestAMessageIsNotConsumedUnderTheNumberOfALostOne(t *testing.T) {
	p := newPast(t)
	client := runtime.NewClient(p.Open(nil), nil)
	link := pgtest.Proxy(t, p.DSN)
	let := make(chan struct{})
	held := make(chan struct{}, 1) // the body may come before the test looks
	o := p.Options()
	o.Lease = leaseShort
	p.RunOn(journal.New(p.Store(link.DSN(), nil), nil), o, func(n *runtime.Node) {
		runtime.Handle(n, listens, func(ctx workflow.Context, n int) (all []string, err error) {
			owned := workflow.StepAsync(ctx, "owned", func(ctx context.Context) (int, error) { // keeps the run with its node
				select {
				case held <- struct{}{}:
				default: // it was cancelled and begins again
				}
				select {
				case <-let:
					return 0, nil
				case <-ctx.Done():
					return 0, context.Cause(ctx)
				}
			}, nil)
			for range n {
				v, err := hint.Receive(ctx)
				if err != nil {
					return nil, err
				}
				all = append(all, v)
			}
			_, err = owned.Get(ctx)
			return all, err
		}, nil)
	})
	ctx := clustertest.Context(t)
	r, err := runtime.Start(ctx, client, listens, 2, nil)
	run := clustertest.MustStart(t, r, err)
	<-held
	p.remember()

	// The commit that consumes the message never reaches the server; the store goes back before the
	// node hears that.
	isCommit := func(at pgtest.Point) bool { return at.Answered && at.Mentions("insert into reprise.events") }
	lost, goOn := make(chan struct{}), make(chan struct{})
	link.CutBefore(isCommit, func() {
		close(lost)
		<-goOn
	})
	signal := func(v string) {
		t.Helper()
		if err := runtime.Signal(ctx, client, run.ID(), hint, v, &runtime.SignalOptions{Key: v}); err != nil {
			t.Fatal(err)
		}
	}
	signal("first")
	<-lost
	// The server holds what it has of the commit, so the tables can be locked only when its session
	// ends; but then at once, before the commit can come again.
	back := make(chan error, 1)
	other := p.Connect()
	go func() { back <- p.backOn(ctx, other, sequencesStay) }()
	p.until("the store is about to go back", `select not exists (select from reprise.inbox) or exists (
		select from pg_locks where not granted and mode = 'AccessExclusiveLock' and relation = 'reprise.tasks'::regclass)`)
	repeated := make(chan struct{}, 1)
	link.CutWhen(func(at pgtest.Point) bool {
		if isCommit(at) {
			select {
			case repeated <- struct{}{}:
			default:
			}
		}
		return false
	}, nil)
	close(goOn)
	if err := <-back; err != nil {
		t.Fatal(err)
	}
	<-repeated
	signal("second")
	signal("third")
	close(let)
	got := clustertest.MustResult(t, run)
	var shown []string
	rows, err := p.conn.Query(ctx, `select payload #>> '{}' from reprise.v_events where inbox is not null order by seq`)
	if err != nil {
		t.Fatal(err)
	}
	if shown, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		t.Fatal(err)
	}
	if want := []string{"second", "third"}; !slices.Equal(got, want) || !slices.Equal(shown, want) {
		t.Errorf("the run received %q, its history shows %q, want %q in both", got, shown, want)
	}
}

const slowly workflow.Name[string, string] = "slowly"

// TestARefusedCommitIsNobodysOwn: two nodes with one number execute one step. The commit of the
// second is refused, because the first has closed the run, and no client hears of its result.
func TestARefusedCommitIsNobodysOwn(t *testing.T) {
	p := newPast(t)
	client := runtime.NewClient(p.Open(nil), nil)
	ctx := clustertest.Context(t)
	r, err := runtime.Start(ctx, client, slowly, "x", &runtime.StartOptions{Key: "one"})
	run := clustertest.MustStart(t, r, err)
	p.remember()
	type gate struct{ in, out chan struct{} }
	gates := map[string]gate{}
	slow := func(name string) func(*runtime.Node) {
		g := gate{make(chan struct{}, 10), make(chan struct{})}
		gates[name] = g
		return func(n *runtime.Node) {
			runtime.Handle(n, slowly, func(ctx workflow.Context, _ string) (string, error) {
				return workflow.Step(ctx, "work", func(ctx context.Context) (string, error) {
					g.in <- struct{}{}
					select {
					case <-g.out:
						return "done by " + name, nil
					case <-ctx.Done():
						return "", context.Cause(ctx)
					}
				}, nil)
			}, nil)
		}
	}
	// A long lease: the first node does not hear of the loss before its step has ended.
	p.node("a", time.Minute, slow("a"))
	<-gates["a"].in
	p.goBack(sequencesToo)
	store := &answering{Store: p.Store(p.DSN, nil), answered: make(chan struct{}, 100)}
	b := p.RunOn(journal.New(store, nil), p.Options(), slow("b"))
	select {
	case <-gates["b"].in:
	case <-gates["a"].in: // it heard of its loss as soon as b joined, joined again, and was first
	}
	r, err = runtime.Start(ctx, b.Client(), slowly, "x", &runtime.StartOptions{Key: "one"})
	asked := clustertest.MustStart(t, r, err)
	if asked.ID() != run.ID() {
		t.Fatalf("the key leads to run %s, want %s", asked.ID(), run.ID())
	}
	close(gates["a"].out)
	// Whether the first node's commit is taken is not the question: it may have heard of the loss.
	limited, cancel := context.WithTimeout(ctx, leaseShort)
	defer cancel()
	_, _ = run.Result(limited)
	close(gates["b"].out)
	select {
	case <-store.answered:
	case <-limited.Done(): // it has heard that the run is closed
	}
	told := clustertest.MustResult(t, asked)
	if stored := clustertest.MustResult(t, run); told != stored {
		t.Errorf("a client is told %q, the store says %q", told, stored)
	}
}

// answering is a store that tells when a commit was answered.
type answering struct {
	*postgres.Store
	answered chan struct{}
}

func (s *answering) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	outcomes, err := s.Store.Commit(ctx, commits)
	s.answered <- struct{}{}
	return outcomes, err
}
