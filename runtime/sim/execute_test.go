package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
)

// execution is one execution of a step's body: an effect on the world.
type execution struct {
	run     journal.RunID
	step    string
	attempt int
	process string
	began   time.Duration
	over    time.Duration // when its body has returned; 0 for not yet
	done    bool          // it returned without an error, on a process that was not dead
	out     string
	failed  time.Duration // when it failed by plan; 0 for not
	key     string        // its idempotency key
	gen     journal.Generation
	saw     string // the last heartbeat of the attempt before
	holds   []holding
	// early: when it began, nothing in the journal asked for it, but the history was empty, so the
	// first event may.
	early bool
}

var (
	errPlanned = errors.New("fails by plan")
	errDead    = errors.New("the process is dead")
)

// planned is how a step fails by plan: it has details, and wraps errPlanned.
type planned struct{ Attempt int }

func (p *planned) Error() string { return fmt.Sprint(errPlanned, ", attempt ", p.Attempt) }
func (p *planned) Unwrap() error { return errPlanned }

func init() {
	workflow.RegisterError("sim.planned", errPlanned)
	workflow.RegisterErrorType[*planned]("sim.attempt")
}

// execute implements bodies.
func (p *process) execute(ctx context.Context, in *instr, undo bool, apply func(func())) (string, error) {
	info, ok := workflow.StepInfo(ctx)
	if !ok || p.dead.Load() {
		return "", errDead
	}
	e := p.w.beginStep(ctx, p, info)
	defer p.w.overStep(e)
	p.w.beginsBounded(ctx, e, in, undo)
	p.w.beginsPlaced(e)
	if in.Sort.Beat {
		p.beat(ctx, e, "begins")
	}
	wait := time.NewTimer(in.For + time.Duration(hash(p.w.plan.Seed, e.step, e.attempt)%1000))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	switch {
	case p.dead.Load():
		return "", errDead
	case undo && in.Sort.Stays:
		return "", errPlanned
	case !undo && info.Attempt <= in.Fail && !p.w.isMended(info.Run, info.Generation):
		if in.Sort.Beat {
			p.beat(ctx, e, "fails")
		}
		p.w.fail(e)
		return "", in.failure(info.Attempt)
	}
	return p.w.end(e, apply), nil
}

// beat tells that an execution is alive. The next attempt sees the last one.
func (p *process) beat(ctx context.Context, e *execution, what string) {
	if err := workflow.Heartbeat(ctx, beatOf(e.attempt, e.process, what)); err != nil {
		p.w.breaks("attempts", "step %s of run %s beats: %v", e.step, e.run, err)
	}
}

func beatOf(attempt int, process, what string) string {
	return fmt.Sprintf("%d by %s %s", attempt, process, what)
}

// failure is how an attempt fails.
func (in *instr) failure(attempt int) error {
	switch {
	case in.Sort.Final && attempt == in.Fail:
		return workflow.Permanent(&planned{attempt})
	case in.Sort.After > 0:
		return workflow.RetryAfter(&planned{attempt}, in.Sort.After)
	}
	return &planned{attempt}
}

// slips implements bodies.
func (p *process) slips(do verb) bool { return p.w.plan.Slip == do }

// value implements bodies.
func (p *process) value(coarse bool) string {
	if coarse {
		return p.w.elapsed().Truncate(2 * time.Second).String()
	}
	return fmt.Sprintf("%s at %s", p.name, p.w.elapsed())
}

// beginStep notes an execution, and whether the journal asks for it yet.
func (w *world) beginStep(ctx context.Context, p *process, info workflow.Attempt) *execution {
	e := &execution{run: info.Run, gen: info.Generation, step: info.Step, attempt: info.Attempt, process: p.name, began: w.elapsed()}
	e.key = workflow.IdempotencyKey(ctx)
	e.saw, _ = workflow.LastHeartbeat[string](ctx)
	if info.IdempotencyKey != e.key {
		w.breaks("attempts", "step %s of run %s: two keys, %q and %q", info.Step, info.Run, info.IdempotencyKey, e.key)
	}
	h, err := w.db.Load(context.Background(), []driver.LoadRequest{{Run: info.Run, AfterInbox: 1 << 40}})
	if err == nil {
		w.beginsPaused(e, h[0].Run.Task)
		w.beginsScoped(e)
		events := h[0].Events
		if h[0].Run.Generation > 1 { // one that was asked for before may begin late
			events = slices.Concat(append(w.kept(info.Run).Past, events)...)
		}
		e.early = len(events) == 0 || events[0].Kind != journal.RunStarted // or terminated before that
		if !e.early && !asksFor(events, info.Step) && !w.tape.asked(info.Run, info.Step) {
			w.breaks("effects", "step %s of run %s begins on %s before the turn that asks for it is durable", info.Step, info.Run, p.name)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.executions = append(w.executions, e)
	return e
}

// asksFor tells whether a history asks for a step.
func asksFor(events []journal.Event, step string) bool {
	for i := range events {
		for _, c := range events[i].Issued {
			if c.Kind == journal.CommandStep && c.Name == step {
				return true
			}
		}
	}
	return false
}

func (w *world) overStep(e *execution) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e.over = w.elapsed()
}

func (w *world) fail(e *execution) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e.failed = w.elapsed()
}

func (w *world) end(e *execution, apply func(func())) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	e.done, e.out = true, fmt.Sprintf("%s#%d by %s", e.step, e.attempt, e.process)
	if apply != nil {
		apply(func() {
			w.effectsMu.Lock()
			defer w.effectsMu.Unlock()
			w.effects[e.run.String()+e.step]++
		})
	}
	return e.out
}
