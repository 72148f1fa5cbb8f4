package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/runtime"
)

// options are the program's flags.
type options struct {
	lag      time.Duration // what an asynchronous standby has not received
	away     time.Duration // how long a fault lasts
	lease    time.Duration // of the nodes
	patience time.Duration // how long work may take to end after a fault
	takes    time.Duration // of the step that a fault interrupts
	gap      time.Duration // between two steps of a run that parks
	runs     int           // of each workflow
	times    int           // how often a fault is repeated
	keep     bool          // the folder with logs and diaries
}

// stage is what a scenario plays on: servers, networks and processes, and a folder for what the
// processes write down. Whatever was put on it goes away with it, in the reverse order.
type stage struct {
	options
	dir   string
	diary *diary
	notes io.Writer // what happens, for whoever watches

	servers []*server
	tunnels []*tunnel
	clients []*process
	cut     time.Time     // see facts
	calm    time.Duration // from the end of the fault to the end of the last run

	mu    sync.Mutex
	nodes []*process // by slot, guarded by mu
	born  int        // guarded by mu
}

// newStage makes an empty one.
func newStage(o options, notes io.Writer) (*stage, error) {
	dir, err := os.MkdirTemp("", "reprise-failover-")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil { // the servers' user writes its dumps elsewhere, but reads here
		return nil, err
	}
	d, err := openDiary(dir, "stage")
	if err != nil {
		return nil, err
	}
	return &stage{options: o, dir: dir, diary: d, notes: notes}, nil
}

// note tells what happens.
func (s *stage) note(format string, args ...any) {
	fmt.Fprintf(s.notes, "    %s %s\n", time.Now().Format(clock), fmt.Sprintf(format, args...))
}

// Close ends everything. The folder stays if it is wanted.
func (s *stage) Close(keep bool) error {
	var errs error
	for _, p := range append(s.clients, s.nodes...) {
		if p.running() {
			_ = thaw(p.cmd.Process)
			p.kill()
		}
	}
	for _, t := range s.tunnels {
		errs = errors.Join(errs, t.Close())
	}
	for _, sv := range s.servers {
		errs = errors.Join(errs, sv.Stop())
	}
	errs = errors.Join(errs, s.diary.close())
	if keep {
		return errs
	}
	return errors.Join(errs, os.RemoveAll(s.dir))
}

// serve starts a server with a migrated database.
func (s *stage) serve(ctx context.Context, settings map[string]string) (*server, error) {
	sv, err := startServer(ctx, settings)
	if err != nil {
		return nil, err
	}
	s.servers = append(s.servers, sv)
	if err := tell(ctx, sv, "postgres", "create role "+role+" login", "create database "+database+" owner "+role); err != nil {
		return nil, err
	}
	store, err := postgres.Open(ctx, direct(sv), nil)
	if err != nil {
		return nil, err
	}
	store.Close()
	return sv, tell(ctx, sv, database, effectsSQL, "grant all on effects to "+role)
}

// dig opens a tunnel to a server.
func (s *stage) dig(to *server) (*tunnel, error) {
	t, err := dig(to.address())
	if err == nil {
		s.tunnels = append(s.tunnels, t)
	}
	return t, err
}

// through is the address of the database through a tunnel.
func through(t *tunnel) string { return addressed(t.addr().String()) }

// direct is its address at the server itself.
func direct(sv *server) string { return addressed(sv.address()) }

func addressed(hosts string) string {
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", role, hosts, database)
}

// either is the address of whichever of two servers takes writes.
func either(a, b *server) string {
	return addressed(a.address()+","+b.address()) + "&target_session_attrs=read-write"
}

// node starts a node in a slot, which may be a new one. Each incarnation has its own name.
func (s *stage) node(slot int, dsn string) (*process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.born++
	p, err := launch(orders{Name: fmt.Sprintf("node-%d.%d", slot+1, s.born), Dir: s.dir, DSN: dsn, Lease: s.lease})
	if err != nil {
		return nil, err
	}
	if slot == len(s.nodes) {
		s.nodes = append(s.nodes, nil)
	}
	s.nodes[slot] = p
	return p, nil
}

// fleet starts n nodes.
func (s *stage) fleet(n int, dsn string) error {
	for slot := range n {
		if _, err := s.node(slot, dsn); err != nil {
			return err
		}
	}
	return nil
}

// restart ends the node of a slot in order and starts the next one there. It returns when that one
// has joined, as a deployment goes on when a process says that it is ready.
func (s *stage) restart(ctx context.Context, slot int, dsn string) error {
	s.mu.Lock()
	p := s.nodes[slot]
	s.mu.Unlock()
	p.ask()
	if err := p.wait(ctx, drainMax); err != nil {
		return err
	}
	next, err := s.node(slot, dsn)
	if err != nil {
		return err
	}
	return s.until(ctx, next.name, func(entries []entry) bool {
		return slices.ContainsFunc(entries, func(e entry) bool { return e.What == joined && e.By == next.name })
	})
}

// killNode kills the node of a slot with SIGKILL.
func (s *stage) killNode(slot int) {
	s.mu.Lock()
	p := s.nodes[slot]
	s.mu.Unlock()
	s.diary.write(entry{What: killed, Value: p.name})
	p.kill()
}

// client starts a client.
func (s *stage) client(name, dsn string, w work) error {
	p, err := launch(orders{Name: name, Dir: s.dir, DSN: dsn, Work: &w})
	if err == nil {
		s.clients = append(s.clients, p)
	}
	return err
}

// callPatience is the time after which a client gives a call up and repeats it.
const callPatience = 3 * time.Second

// load starts clients that keep every kind of run going: some park for a moment, some write with
// their steps, some wait for signals, some for a limit.
func (s *stage) load(ctx context.Context, dsn string) error {
	if err := bound(ctx, dsn); err != nil {
		return err
	}
	for _, w := range []work{
		{Workflow: string(sleeper), Runs: s.runs, Parallel: s.runs, Over: time.Second, Each: order{Steps: 10, Gap: s.gap}},
		{Workflow: string(chain), Parallel: max(2, s.runs/12), Each: order{Steps: 3, Takes: 20 * time.Millisecond}},
		{Workflow: string(bounded), Parallel: max(2*boundedMost, s.runs/12), Each: order{Steps: 3, Takes: 20 * time.Millisecond}},
		{Workflow: string(receiver), Runs: s.runs / 5, Parallel: s.runs / 5, Over: time.Second, Each: order{Steps: 12, Gap: s.gap}},
	} {
		w.Call = callPatience
		if err := s.client(w.Workflow, dsn, w); err != nil {
			return err
		}
	}
	return nil
}

// bound sets the limit of the workflow bounded.
func bound(ctx context.Context, dsn string) error {
	store, err := postgres.Open(ctx, dsn, &postgres.Options{SkipMigrations: true})
	if err != nil {
		return err
	}
	defer store.Close()
	return runtime.SetLimit(ctx, runtime.NewClient(journal.New(store, nil), nil), journal.Limit{Name: boundedLimit, Concurrency: boundedMost})
}

// after waits.
func (s *stage) after(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// until polls what the processes have written down.
func (s *stage) until(ctx context.Context, what string, holds func([]entry) bool) error {
	ctx, cancel := context.WithTimeout(ctx, awaitMax)
	defer cancel()
	tick := time.NewTicker(awaitPace)
	defer tick.Stop()
	for {
		entries, err := readDiaries(s.dir)
		if err == nil && holds(entries) { // a line may be half written
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited in vain for %s: %w", what, errors.Join(ctx.Err(), err))
		case <-tick.C:
		}
	}
}

// count tells how many entries say something.
func count(entries []entry, what string) (n int) {
	for _, e := range entries {
		if e.What == what {
			n++
		}
	}
	return n
}

// warm waits until the load is in full swing: everything that starts once has started, and some
// have ended.
func (s *stage) warm(ctx context.Context) error {
	return s.until(ctx, "the load", func(entries []entry) bool {
		return count(entries, started) >= s.runs+s.runs/5 && count(entries, resulted) >= s.runs/10
	})
}

const drainMax = 20 * time.Second

// settle lets the work end and collects the facts from the server that the runs ended on. Clients
// start nothing more; what has not ended when the patience is over stands still.
func (s *stage) settle(ctx context.Context, on *server) (*facts, error) {
	healed := time.Now()
	limited, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	for _, p := range s.clients {
		p.closes()
	}
	s.seeOut(limited, on)
	if err := on.await(limited, database, `select not exists (select from reprise.runs where status = 0)`); err != nil {
		s.note("%v", err) // the audit tells what is open
	}
	s.calm = time.Since(healed)
	var errs error
	for _, p := range s.clients {
		if p.running() {
			p.ask()
		}
		errs = errors.Join(errs, p.wait(ctx, drainMax))
	}
	f, err := collect(ctx, s.dir, on.DSN(database), s.cut)
	return f, errors.Join(errs, err, s.dismiss(ctx))
}

// seeOut waits until the clients have ended, or patience has. It sends signals again meanwhile, and
// once more afterwards: runs whose clients have their results may be open again.
func (s *stage) seeOut(ctx context.Context, on *server) {
	tick := time.NewTicker(resendPace)
	defer tick.Stop()
	for {
		if err := s.resend(ctx, on); err != nil {
			s.note("signals are not sent again: %v", err)
		}
		if ctx.Err() != nil || !slices.ContainsFunc(s.clients, (*process).running) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

const resendPace = 2 * time.Second

// resend sends the signals of all receivers that are still open again: a client that was told that
// a signal had arrived does not know that the database has lost it, and without the signal its run
// rightly waits.
func (s *stage) resend(ctx context.Context, on *server) error {
	store, err := postgres.Open(ctx, on.DSN(database), &postgres.Options{SkipMigrations: true})
	if err != nil {
		return err
	}
	defer store.Close()
	j := journal.New(store, nil)
	c := &client{client: runtime.NewClient(j, nil)}
	isOpen := journal.Open
	page, err := c.client.List(ctx, journal.ListFilter{Workflow: string(receiver), Status: &isOpen, Limit: journal.ListMax})
	if err != nil {
		return err
	}
	for _, run := range page.Runs {
		var o order
		if err := j.Codec().Decode(run.Input, &o); err != nil {
			return err
		}
		for i := range o.Steps {
			if err := c.say(ctx, run.ID, o, i); err != nil && !errors.Is(err, journal.ErrClosed) {
				return err
			}
		}
	}
	return nil
}

// dismiss ends the nodes in order, and reports those that had ended before or do not end.
func (s *stage) dismiss(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs error
	for _, p := range s.nodes {
		if !p.running() {
			errs = errors.Join(errs, fmt.Errorf("%s had ended by itself: %s", p.name, p.cmd.ProcessState))
		}
		p.ask()
	}
	for _, p := range s.nodes {
		errs = errors.Join(errs, p.wait(ctx, drainMax))
	}
	return errs
}

// begin starts a server, three nodes on it and the load, and returns the server and its address
// when the load is under way.
func (s *stage) begin(ctx context.Context) (*server, string, error) {
	sv, err := s.serve(ctx, nil)
	if err != nil {
		return nil, "", err
	}
	dsn := direct(sv)
	return sv, dsn, s.work(ctx, 3, dsn)
}

// work starts nodes and the load, and returns when that is under way.
func (s *stage) work(ctx context.Context, nodes int, dsn string) error {
	if err := s.fleet(nodes, dsn); err != nil {
		return err
	}
	if err := s.load(ctx, dsn); err != nil {
		return err
	}
	return s.warm(ctx)
}
