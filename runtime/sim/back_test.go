package sim

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/runtime"
)

// backPlan is how an operator goes back: a retry, a reset, or a fork. With Nth a reset or a fork comes
// with the run's commit of that number, not at its time, as a pause does.
type backPlan struct {
	Nth    int           `json:"nth,omitempty"`
	Within time.Duration `json:"within,omitempty"` // of a retry: how long the operator waits for the run to fail
	Point  pointKind     `json:"point,omitempty"`
	Number int           `json:"number,omitempty"` // which of several there are
	Proof  bool          `json:"proof,omitempty"`  // by a node of the cluster, if one is there
	None   bool          `json:"none,omitempty"`   // no message comes again but
	Names  []string      `json:"names,omitempty"`  // these
	Keep   bool          `json:"keep,omitempty"`   // children are left alone
	Mend   bool          `json:"mend,omitempty"`   // steps that fail by plan complete from then on
	Again  bool          `json:"again,omitempty"`  // of a retry: also behind compensations
	Result bool          `json:"result,omitempty"` // of a fork: a step gets another result
}

// pointKind is a kind of point.
type pointKind string

const (
	atEvent      pointKind = "event"
	atStep       pointKind = "step"
	atFailure    pointKind = "failure"
	atGeneration pointKind = "generation"
	atStart      pointKind = "start"
	atFits       pointKind = "fits"
)

var pointKinds = []pointKind{atEvent, atEvent, atEvent, atStep, atStep, atFailure, atGeneration, atStart, atFits}

const (
	// backWithin is how long an operator goes on trying.
	backWithin = 3 * time.Second
	// mending is the reason of who has mended what the steps of a run call.
	mending = "mended"
)

// goesBack adds rewinds to a plan. They come from a generator of their own, as pauses do.
func (p *plan) goesBack() {
	m := &maker{Rand: randOf(p.Seed)}
	if m.IntN(4) > 0 {
		return
	}
	for i := range p.Runs {
		r := &p.Runs[i]
		for range m.IntN(4) {
			r.Sends = append(r.Sends, m.back())
		}
		slices.SortStableFunc(r.Sends, func(a, b send) int { return cmp.Compare(a.At, b.At) })
	}
}

// backKinds are drawn with equal odds; what is here twice is drawn more often.
var backKinds = []sendKind{sendRetry, sendRetry, sendReset, sendReset, sendReset, sendFork, sendSkip, sendEdit}

// randOf is the generator of rewinds.
func randOf(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0xbac)) }

func (m *maker) back() send {
	s := send{At: m.between(0, 9*time.Second), Do: backKinds[m.IntN(len(backKinds))]}
	b := &s.Back
	b.Point, b.Number, b.Proof = pointKinds[m.IntN(len(pointKinds))], m.IntN(1000), m.IntN(2) == 0
	b.None, b.Keep, b.Mend, b.Again, b.Result = m.IntN(3) == 0, m.IntN(3) == 0, m.IntN(2) == 0, m.IntN(2) == 0, m.IntN(3) == 0
	if b.None && m.IntN(2) == 0 {
		b.Names = []string{signalNames[m.IntN(len(signalNames))], string(callIt)}[:1+m.IntN(2)]
	}
	if s.Do == sendRetry {
		b.Within = backWithin
	} else if (s.Do == sendReset || s.Do == sendFork) && m.IntN(2) == 0 {
		b.Nth = 1 + int(m.between(0, 15))
	}
	return s
}

// leavesOut tells whether messages are left out then, so that the run has received fewer than came.
func (r *runPlan) leavesOut() bool {
	return slices.ContainsFunc(r.Sends, func(s send) bool { return s.Back.None || s.Do == sendSkip })
}

// back goes back in a run as an operator does who looks first. He gives up if it takes too long, or
// the run has no such point by then.
func (w *world) back(r *running, s *send) {
	for began := time.Now(); time.Since(began) < max(s.Back.Within, backWithin) && w.ctx.Err() == nil; time.Sleep(backWithin / 20) {
		id := w.idOf(r)
		kept, known := w.db.Run(id)
		if !known || s.Do == sendRetry && !kept.Run.Status.Closed() {
			continue
		}
		ctx, cancel := context.WithTimeout(w.ctx, callMax)
		err := w.backOnce(ctx, r, s, &kept)
		cancel()
		if err == nil {
			return
		}
		if !w.mayRefuse(s, err) {
			w.breaks("client", "a %s of run %s to %s %d: %v", s.Do, r.name(), s.Back.Point, s.Back.Number, err)
			return
		}
	}
}

// mayRefuse tells whether an operator may be told that it cannot be done now.
func (w *world) mayRefuse(s *send, err error) bool {
	_, noPoint := errors.AsType[*runtime.PointError](err)
	_, differs := errors.AsType[*replay.DivergenceError](err) // another result than the code went on with
	_, unreadable := errors.AsType[*journal.UnreadableError](err)
	taken, isTaken := errors.AsType[*journal.KeyConflictError](err) // of a child that is to go on with its parent
	if isTaken {
		holder, known := w.db.Run(taken.Run)
		isTaken = known && holder.Run.Key == taken.Key
	}
	return noPoint || isTaken || differs && s.Back.Result || unreadable && w.plan.hasOlder() || w.now() > 0 && errors.Is(err, journal.ErrNotFound) ||
		errors.Is(err, journal.ErrUnavailable) || errors.Is(err, journal.ErrOpen) || errors.Is(err, driver.ErrMoved) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, context.Canceled)
}

// backOnce asks for it once. kept is what the operator has seen of the run.
func (w *world) backOnce(ctx context.Context, r *running, s *send, kept *memory.RunSnapshot) (err error) {
	client, b, id := w.clients[0].client, &s.Back, kept.Run.ID
	reason := "by plan"
	if b.Mend {
		reason = mending
	}
	if s.Do == sendRetry {
		_, err = client.Retry(ctx, id, &runtime.RetryOptions{Reason: reason, Again: b.Again})
		return err
	}
	if s.Do == sendSkip || s.Do == sendEdit {
		return w.amend(ctx, s, kept, reason)
	}
	proof := w.prover(b.Number)
	point, ok := b.at(kept, proof != nil)
	if !ok {
		return &runtime.PointError{Run: id, Text: "there is none yet"}
	}
	if !b.Proof && point != runtime.LatestFit {
		proof = nil
	}
	var input any
	if point == runtime.RunStart {
		input = job{Root: r.number, Of: r.of, Program: r.plan.Program}
	}
	if s.Do == sendReset {
		_, err = client.Reset(ctx, id, point, &runtime.ResetOptions{Reason: reason, Proof: proof, Unproven: proof == nil, NoMessages: b.None, Messages: b.Names,
			KeepChildren: b.Keep, Input: input})
		return err
	}
	o := &runtime.ForkOptions{Reason: reason, Proof: proof, Unproven: proof == nil, NoMessages: b.None, Messages: b.Names, Input: input}
	if b.Result && proof != nil && input == nil {
		o.Results = b.results(kept)
	}
	_, err = client.Fork(ctx, id, point, o)
	return err
}

// amend leaves a message out of a run, or gives a step of it another result.
func (w *world) amend(ctx context.Context, s *send, kept *memory.RunSnapshot, reason string) (err error) {
	client, b := w.clients[0].client, &s.Back
	o := &runtime.AmendOptions{Reason: reason, Proof: w.prover(b.Number), KeepChildren: b.Keep}
	if !b.Proof {
		o.Proof = nil
	}
	o.Unproven = o.Proof == nil
	if s.Do == sendSkip {
		message := journal.InboxSeq(1 + b.Number%(1+len(kept.Messages))) // there may be none yet
		_, err = runtime.SkipMessage(ctx, client, kept.Run.ID, message, o)
		return err
	}
	for seq, result := range b.results(kept) { // there is one, or none
		_, err = runtime.EditStep(ctx, client, kept.Run.ID, runtime.StepResult{Event: seq}, result, o)
		return err
	}
	return &runtime.PointError{Run: kept.Run.ID, Text: "no step has ended yet"}
}

// prover returns a node that has the code, or nil.
func (w *world) prover(n int) *runtime.Node {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.nodes[1+n%len(w.plan.Nodes)]; p != nil {
		return p.node
	}
	return nil
}

// at returns the point, if a run has it.
func (b *backPlan) at(kept *memory.RunSnapshot, provable bool) (runtime.Point, bool) {
	events := kept.Events
	if kept.Run.Status.Closed() && len(events) > 0 {
		events = events[:len(events)-1]
		if kept.Run.Status != journal.Terminated && len(events) > 0 { // behind this one the code has ended
			events = events[:len(events)-1]
		}
	}
	switch b.Point {
	case atFailure:
		return runtime.BeforeFailure, kept.Run.Status.Closed()
	case atGeneration:
		return runtime.GenerationStart, true
	case atStart:
		return runtime.RunStart, true
	case atFits:
		return runtime.LatestFit, provable && len(events) > 0
	case atStep:
		steps := outcomesIn(events)
		if len(steps) == 0 {
			return "", false
		}
		return runtime.BeforeStep(steps[b.Number%len(steps)].Name), true
	}
	if len(events) == 0 {
		return "", false
	}
	return runtime.AfterEvent(journal.Seq(1 + b.Number%len(events))), true
}

// outcomesIn returns the outcomes of steps among events.
func outcomesIn(events []journal.Event) []journal.Event {
	return slices.DeleteFunc(slices.Clone(events), func(ev journal.Event) bool {
		return ev.Kind != journal.StepCompleted && ev.Kind != journal.StepFailed
	})
}

// byOperator begins the outputs that operators give to steps.
const byOperator = "given to "

// results gives a step of the program, if one has ended, another output.
func (b *backPlan) results(kept *memory.RunSnapshot) map[journal.Seq]any {
	steps := slices.DeleteFunc(outcomesIn(kept.Events), func(ev journal.Event) bool { return ev.Name[0] != 's' })
	if len(steps) == 0 {
		return nil
	}
	ev := &steps[b.Number%len(steps)]
	return map[journal.Seq]any{ev.Seq: byOperator + ev.Name}
}

// backBeside carries out the rewinds that come with a run's n-th commit, before it or after it. An
// open run goes back in this very moment, between two commits that know nothing of it. The tape is
// locked.
func (w *world) backBeside(r *running, n int, after bool) {
	if w.elapsed() > w.plan.calm() { // checkLate wants quiet then
		return
	}
	for k := range r.plan.Sends {
		s := &r.plan.Sends[k]
		if s.Back.Nth == 0 || !s.Back.nth(n, k, after) || !w.first(s) {
			continue
		}
		kept := w.kept(r.id)
		point, ok := s.Back.at(&kept, false)
		if s.Do == sendFork || kept.Run.Status.Closed() || !ok {
			w.drivers.Go(func() { w.back(r, s) })
			continue
		}
		if a, ok := s.Back.reset(w, r, &kept, point); ok {
			if _, err := w.admin(context.Background(), w.mutate(w, w.db), a); err != nil {
				w.breaks("rewind", "a reset of run %s beside a commit: %v", r.name(), err)
			}
			w.mu.Lock()
			w.backsBeside++
			w.mu.Unlock()
		}
	}
}

// first tells, once, that something of the plan has not been done yet. A reset ahead of a commit has
// that refused, so the run comes to its n-th commit again.
func (w *world) first(s *send) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := !w.did[s]
	w.did[s] = true
	return first
}

// nth tells whether what is k-th in the plan comes beside a run's n-th commit.
func (b *backPlan) nth(n, k int, after bool) bool {
	return after == (k%2 == 1) && (b.Nth == n && after || b.Nth == n+1 && !after)
}

// reset is the action of an operator who goes back in an open run.
func (b *backPlan) reset(w *world, r *running, kept *memory.RunSnapshot, point runtime.Point) (a driver.AdminAction, ok bool) {
	seq := 0
	switch b.Point {
	case atEvent:
		seq = 1 + b.Number%len(kept.Events)
	case atStep:
		steps := outcomesIn(kept.Events)
		name := steps[b.Number%len(steps)].Name
		seq = slices.IndexFunc(kept.Events, func(ev journal.Event) bool {
			return ev.Name == name && slices.Contains([]journal.Kind{journal.StepCompleted, journal.StepFailed}, ev.Kind)
		})
	case atStart, atGeneration:
	default:
		return a, false
	}
	run := kept.Run
	rewind := driver.NewRewind(&run, kept.Events, journal.Seq(seq), true)
	rewind.KeepChildren, rewind.Messages = b.Keep, driver.Again{None: b.None, Names: b.Names}
	if point == runtime.RunStart || point == runtime.GenerationStart {
		rewind.Version, rewind.Input, rewind.Whole = run.Version, run.Input, point == runtime.RunStart
	}
	if rewind.Whole {
		in, err := (journal.JSON{}).Encode(job{Root: r.number, Of: r.of, Program: r.plan.Program})
		if err != nil {
			w.breaks("rewind", "the input of run %s cannot be encoded: %v", r.name(), err)
			return a, false
		}
		rewind.Input = in
	}
	a = driver.AdminAction{Run: r.id, Kind: driver.AdminReset, Actor: "plan", Reason: "beside a commit", Rewind: rewind}
	if b.Mend {
		a.Reason = mending
	}
	return a, true
}

// isMended tells whether steps of a run complete that fail by plan.
func (w *world) isMended(run journal.RunID, g journal.Generation) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	first, known := w.mended[run]
	return known && g >= first
}
