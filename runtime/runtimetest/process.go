package runtimetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime"
)

// process is one life of the node and its connection to the store.
//
// A crash is simulated at the connection, because a goroutine cannot be killed. Once a process is
// dead, nothing that it does reaches the store: commits are refused as those of a lost owner,
// claims wait until their caller gives up, and other calls fail. So the actors throw their state
// away, the steps' contexts are cancelled, and the goroutines end soon; and whatever they still do
// is as invisible as if they had been killed.
//
// The next process takes the runs over at once: it reaps the ids of the dead one when it joins. To
// wait for the lease as a real cluster does would make the times in a test depend on its crashes.
type process struct {
	*memory.Store
	e      *Env
	name   string
	node   *runtime.Node
	dead   atomic.Bool
	cancel context.CancelFunc
	joined chan struct{}    // closed when the node has joined, and what it inherits is free
	ended  chan struct{}    // closed when Node.Run has returned
	dying  []journal.NodeID // of the process before
	ids    []journal.NodeID // of this process; guarded by e.mu
}

var (
	_ driver.Store     = (*process)(nil)
	_ driver.TxStore   = (*process)(nil)
	_ driver.TxLimiter = (*process)(nil)
)

// errCrashed matches ErrNodeLost, which no part of a node repeats.
var errCrashed = fmt.Errorf("the process has crashed: %w", journal.ErrNodeLost)

// boot starts a process in place of dying, nil for the first one. The caller holds e.mu.
func (e *Env) boot(dying *process) *process {
	p := &process{Store: e.db.Peer(), e: e, joined: make(chan struct{}), ended: make(chan struct{}), name: "node 1"}
	if dying != nil {
		p.dying, p.name = dying.ids, fmt.Sprintf("after %s", dying.name)
	}
	o, jo := e.Node, e.Journal
	if o.Logger == nil {
		o.Logger = e.logger(p.name, &p.dead)
	}
	if jo.Logger == nil {
		jo.Logger = o.Logger
	}
	o.Logger = slog.New(blockingWatcher{o.Logger.Handler(), e.blocks})
	if o.StuckAfter == 0 {
		o.StuckAfter = turnMax
	}
	o.Name, o.Lease, o.Poll, o.Drain, o.WarmIdle = p.name, leaseLength, pollEvery, drainAtOnce, warmIdle
	o.Intercept = p.intercept
	p.node = runtime.NewNode(journal.New(p, &jo), &o)
	for _, register := range e.registrations {
		register(p.node)
	}
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(context.Background())
	go func() {
		defer close(p.ended)
		if err := p.node.Run(ctx); err != nil && !p.dead.Load() {
			e.stop(fmt.Errorf("the node ended with: %w", err))
		}
	}()
	return p
}

// Crash ends the node as kill -9 does, and starts a new one that takes its runs over. What the old
// one was about to write is lost. Its steps' contexts are cancelled, because a goroutine cannot be
// killed; what they return then is discarded. Crash returns when they have ended, or after some
// seconds if they do not look at their contexts.
func (e *Env) Crash() {
	p := e.current()
	p.fall()
	e.replace(p)
}

// Restart drains the node, as a deployment does, and starts a new one. Steps that run are cancelled
// and executed again.
func (e *Env) Restart() { e.replace(e.current()) }

// replace ends a process and starts the next one. If somebody else has replaced it already, or the
// test ends, it starts none.
func (e *Env) replace(p *process) {
	e.swap <- struct{}{}
	defer func() { <-e.swap }()
	if p.dead.Load() {
		p.Store.Close()
	}
	p.cancel()
	<-p.ended
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closing && e.process == p {
		e.process = e.boot(p)
	}
}

// fall makes the process a dead one. That is all that the log has of it: a killed process says
// nothing of what its goroutines still do here.
func (p *process) fall() {
	p.e.logger(p.name, &p.dead).Info("the process crashes")
	p.dead.Store(true)
}

// die is a crash in the middle of a call. The new process is started in the background: the call
// must return first, or the old one could not end.
func (p *process) die() {
	p.fall()
	go p.e.replace(p)
}

// Commit implements driver.Store. It is where a test can crash: before the turns are written, or
// before their node gets the answer.
func (p *process) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	if p.dead.Load() {
		return fenced(len(commits)), nil
	}
	at := p.e.arrive(commits)
	if at == beforeWrite {
		p.die()
		return fenced(len(commits)), nil
	}
	ending := p.ending(ctx, commits)
	out, err := commitStep(ctx, p.Store, commits)
	if err == nil {
		p.e.seal(ending, commits, out)
		p.announce(commits, out)
	}
	if at == afterWrite {
		p.die()
		return fenced(len(commits)), nil
	}
	return out, err
}

func fenced(n int) []driver.Outcome {
	out := make([]driver.Outcome, n)
	for i := range out {
		out[i].Err = journal.ErrFenced
	}
	return out
}

// announce tells the client of every closed run and every answered update, and fails the test for a
// blocked run. The journal sends such hints only to processes that have announced that they wait,
// and they would have to repeat that every few seconds of a clock that jumps months.
func (p *process) announce(commits []driver.Commit, out []driver.Outcome) {
	for i := range commits {
		c := &commits[i]
		switch {
		case out[i].Err != nil:
		case c.Next.Kind == driver.NextClose || len(c.Replies) > 0:
			p.Store.Hints().Notify([]driver.Hint{{Kind: driver.HintClosed, Run: c.Run}})
		case c.Next.Kind == driver.NextBlock:
			p.e.stop(&BlockedError{Run: c.Run, Problem: c.Next.Problem})
		}
	}
}

// BlockedError ends a test whose run cannot continue: its code does not fit its history, or
// panicked.
type BlockedError struct {
	Run     journal.RunID
	Problem string
}

func (e *BlockedError) Error() string { return fmt.Sprintf("run %s is blocked: %s", e.Run, e.Problem) }

// Claim implements driver.Store.
func (p *process) Claim(ctx context.Context, r driver.ClaimRequest) (driver.Claim, error) {
	if p.dead.Load() {
		return driver.Claim{}, fmt.Errorf("%w: %w", journal.ErrUnavailable, errCrashed) // after which a claimer waits
	}
	return p.Store.Claim(ctx, r)
}

// Load implements driver.Store.
func (p *process) Load(ctx context.Context, requests []driver.LoadRequest) ([]driver.History, error) {
	if p.dead.Load() {
		return nil, errCrashed
	}
	return p.Store.Load(ctx, requests)
}

// Begin implements driver.TxStore.
func (p *process) Begin(ctx context.Context) (journal.Tx, error) {
	if p.dead.Load() {
		return nil, errCrashed
	}
	if p.e.txs != nil {
		return p.e.txs.open(ctx, p.Store, p.e.stop)
	}
	return p.Store.Begin(ctx)
}

// TxLimit implements driver.TxLimiter.
func (p *process) TxLimit() string {
	if p.e.txs == nil {
		return ""
	}
	return "runtimetest.TxFrom=1"
}

// Join implements driver.Store. It frees the runs of the process before, so that they are taken
// over at once.
func (p *process) Join(ctx context.Context, n journal.Node) (driver.Membership, error) {
	if p.dead.Load() {
		return nil, errCrashed
	}
	m, err := p.Store.Join(ctx, n)
	if err != nil {
		return nil, err
	}
	p.e.mu.Lock()
	p.ids = append(p.ids, m.ID())
	p.e.mu.Unlock()
	if len(p.dying) > 0 {
		if _, err := m.Reap(ctx, p.dying); err != nil {
			return nil, err
		}
	}
	select {
	case <-p.joined: // it lost its lease and joins again
	default:
		close(p.joined)
	}
	return &membership{Membership: m, p: p}, nil
}

// membership ends with its process: a dead one can neither renew its lease nor give it back.
type membership struct {
	driver.Membership
	p *process
}

// Renew implements driver.Membership.
func (m *membership) Renew(ctx context.Context) (driver.Renewal, error) {
	if m.p.dead.Load() {
		return driver.Renewal{}, errCrashed
	}
	return m.Membership.Renew(ctx)
}

// Look implements driver.Membership.
func (m *membership) Look(ctx context.Context) (driver.Look, error) {
	if m.p.dead.Load() {
		return driver.Look{}, errCrashed
	}
	return m.Membership.Look(ctx)
}

// Limits implements driver.Membership.
func (m *membership) Limits(ctx context.Context, r driver.LimitRound) (driver.LimitAnswer, error) {
	if m.p.dead.Load() {
		return driver.LimitAnswer{}, errCrashed
	}
	return m.Membership.Limits(ctx, r)
}

// Leave implements driver.Membership.
func (m *membership) Leave(ctx context.Context) error {
	if m.p.dead.Load() {
		return errors.New("the process has crashed")
	}
	return m.Membership.Leave(ctx)
}
