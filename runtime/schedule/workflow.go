package schedule

import (
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

const (
	// Workflow is the name of the workflow that schedules are runs of.
	Workflow = "reprise.schedule"

	// Published is the name under which a schedule publishes its [Info].
	Published = "schedule"

	name workflow.Name[state, Counts] = Workflow
)

// run is the workflow of a schedule. Each turn hears what it is told, looks at what has ended,
// decides about what is due, and waits for the next of these.
func run(ctx workflow.Context, c *runtime.Client, s state) (Counts, error) {
	r := &runner{state: s, client: c}
	for _, o := range s.Open {
		r.open = append(r.open, &live{opened: o, carried: true})
	}
	r.state.Open = nil
	if r.Cursor.IsZero() {
		r.Cursor = ctx.Now()
	}
	if err := r.look(ctx); err != nil {
		return r.Counts, err
	}
	for {
		if err := r.turn(ctx); err != nil || r.removed {
			return r.Counts, err
		}
		workflow.Publish(ctx, Published, r.info())
		if ctx.ShouldContinue() {
			if r.overdue++; len(r.open) == 0 || r.overdue > overdueMax {
				return r.Counts, workflow.ContinueAsNew(ctx, name, r.carry(), nil)
			}
		}
		if err := r.wait(ctx); err != nil {
			return r.Counts, err
		}
	}
}

// turn does what there is to do now.
func (r *runner) turn(ctx workflow.Context) error {
	if err := r.hear(ctx); err != nil {
		return err
	}
	for !r.removed {
		o, some, err := orders.ReceiveTimeout(ctx, 0)
		if err != nil {
			return err
		}
		if !some {
			break
		}
		if err := r.obey(ctx, &o); err != nil {
			return err
		}
	}
	if r.removed {
		return nil
	}
	for _, do := range []func(workflow.Context) error{r.decide, r.fill, r.lookNow, r.feed} {
		if err := do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// carry is the state for the next generation. Where nothing depends on open runs they are
// forgotten.
func (r *runner) carry() state {
	s := r.state
	if s.Schedule.Overlap == Allow && s.Schedule.PauseAfter == 0 && len(s.Backfills) == 0 {
		return s
	}
	for _, l := range r.open {
		s.Open = append(s.Open, l.opened)
	}
	return s
}

// wait waits for an order, the end of a run, or the next moment at which something is to do.
func (r *runner) wait(ctx workflow.Context) error {
	r.arm(ctx, r.nextWake())
	cases := make([]workflow.Case, 0, 2+len(r.open))
	var got *order
	cases = append(cases, workflow.OnSignal(orders, func(o order) { got = &o }))
	if !r.timerDue.IsZero() {
		cases = append(cases, workflow.OnTimer(r.timer, func() { r.timerDue = time.Time{} }))
	}
	for _, l := range r.open {
		if !l.carried {
			cases = append(cases, workflow.OnFuture(l.end.Future, nil))
		}
	}
	if _, err := workflow.Select(ctx, cases...); err != nil {
		return err
	}
	if got == nil {
		return nil
	}
	if err := r.hear(ctx); err != nil {
		return err
	}
	return r.obey(ctx, got)
}

// hear takes in what has ended, and starts what has waited for that.
func (r *runner) hear(ctx workflow.Context) error {
	if err := r.ended(ctx); err != nil {
		return err
	}
	return r.feed(ctx)
}

// nextWake is when there is something to do next; zero for never.
func (r *runner) nextWake() time.Time {
	at := r.wakeAt
	if r.Behind && r.waits() {
		at = time.Time{}
	}
	if len(r.Backfills) > 0 && r.Backfills[0].AtOnce && (at.IsZero() || r.paceAt.Before(at)) {
		at = r.paceAt
	}
	if !r.lookAt.IsZero() && (at.IsZero() || r.lookAt.Before(at)) {
		at = r.lookAt
	}
	return at
}

// arm has the timer fire at a moment. One that does so already stays.
func (r *runner) arm(ctx workflow.Context, at time.Time) {
	if at.Equal(r.timerDue) {
		return
	}
	if !r.timerDue.IsZero() {
		r.timer.Stop()
	}
	if r.timerDue = at; !at.IsZero() {
		r.timer = workflow.NewNamedTimer(ctx, "slot", at.Sub(ctx.Now()))
	}
}

// obey does what the schedule is told. What is due under the old rules is decided first.
func (r *runner) obey(ctx workflow.Context, o *order) error {
	if o.Verb == define || o.Verb == pause {
		if err := r.decide(ctx); err != nil {
			return err
		}
	}
	switch o.Verb {
	case remove:
		r.removed = true
	case define:
		return r.define(ctx, o)
	case pause:
		if o.Reason == "" {
			o.Reason = "paused"
		}
		r.halt(o.Reason)
	case resume:
		if r.Paused != "" {
			r.Paused, r.Failures, r.Cursor = "", 0, ctx.Now()
			r.forget()
		}
	case trigger:
		if o.Overlap == "" {
			o.Overlap = r.Schedule.withDefaults().Overlap
		}
		if o.Overlap.known() && journal.CheckKey("key", keyOfTrigger(r.ID, o.Key)) == nil {
			if o.Overlap != Allow && r.busy(false) { // perhaps with runs whose end is not heard of
				if err := r.look(ctx); err != nil {
					return err
				}
			}
			return r.place(ctx, item{Slot: ctx.Now().Truncate(time.Second), Trigger: o.Key, Overlap: o.Overlap})
		}
	case fillBack:
		if to := o.To; len(r.Backfills) < backfillsMax {
			if now := ctx.Now(); to.After(now) {
				to = now
			}
			r.Backfills = append(r.Backfills, backfill{Cursor: o.From.Add(-time.Second), To: to, AtOnce: o.Overlap == Allow})
		}
	}
	return nil
}

// define changes what the schedule is. Slots of a new spec begin now.
func (r *runner) define(ctx workflow.Context, o *order) error {
	if o.Schedule == nil {
		return nil // it is not of Apply
	}
	if checked(ctx, "schedule "+r.ID, func() error { return r.checkDefinition(o.Schedule) }) != nil {
		return nil
	}
	if err := r.settle(ctx); err != nil {
		return err
	}
	if !sameSpec(&r.Schedule, o.Schedule) {
		r.Cursor = ctx.Now()
	}
	r.Schedule, r.Behind, r.digest = *o.Schedule, false, ""
	r.forget()
	return nil
}

// checkDefinition refuses what the schedule's set would not have sent.
func (r *runner) checkDefinition(s *Schedule) error {
	p := s.lasting()
	p.add(s.Name != r.Schedule.Name, "the name %q is not the schedule's, %q: apply the set", s.Name, r.Schedule.Name)
	_, size := s.bytes()
	p.list = append(p.list, size.list...)
	return p.error("schedule " + r.ID)
}

// info is what the schedule shows of itself.
func (r *runner) info() Info {
	if r.digest == "" { // an input may be large, and turns are many
		r.digest = digestOf(&r.Schedule)
	}
	i := Info{
		ID: r.ID, Schedule: r.Schedule.shown(), Digest: r.digest, Failures: r.Failures, Refused: r.Refused, Paused: r.Paused, Next: r.next, Note: r.note, Waiting: r.Behind && r.waits(),
		OpenRuns: len(r.open), Queued: len(r.Queue), Backfill: len(r.Backfills), Counts: r.Counts, Last: r.Last,
	}
	for _, l := range r.open[:min(len(r.open), openShown)] {
		i.Open = append(i.Open, l.Run)
	}
	if i.Waiting {
		i.Next, i.Note = time.Time{}, ""
	}
	i.Open = slices.Clip(i.Open)
	return i
}
