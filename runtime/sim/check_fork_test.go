package sim

import (
	"reflect"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
)

// forked checks a fork when it is made (J13): the run is what it was, and the fork is a copy of it
// that goes back, with nothing but copies, no parent and no children. The fork is a run like any
// other from there on.
func (w *world) forked(a *driver.AdminAction, was, now *memory.RunSnapshot) {
	fork := w.kept(a.Fork.Run)
	b := w.noteBack(a, was, &fork)
	r := rewinding{w: w, b: b, was: was, now: &fork, seq: int(a.Rewind.Head.Seq)}
	if !reflect.DeepEqual(was, now) {
		r.breaks("the run was %+v and is %+v", *was, *now)
	}
	if rows := w.audited(a.Fork.Run); rows != 1 {
		r.breaks("the fork has %d entries of the audit (J12)", rows)
	}
	t := fork.Run.Task
	state, due := journal.Ready, true
	if len(fork.Run.Limits) > 0 { // it holds what the run does, and so waits for it
		state, due = journal.Limited, false
	}
	if fork.Run.Generation != was.Run.Generation+1 || fork.Run.Parent != nil || t == nil || t.Owner != 0 || t.State != state || t.VisibleAt.IsZero() == due {
		r.breaks("the fork is %+v, its task %+v", fork.Run, t)
	}
	r.copies()
	r.inbox(nil)
	if len(fork.Messages) != len(was.Messages) {
		r.breaks("the fork has %d messages, the run %d", len(fork.Messages), len(was.Messages))
	}
	if kids := w.childrenOf(a.Fork.Run); len(kids) > 0 {
		r.breaks("the fork has %d children", len(kids))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.run(a.Run)
	if of == nil || w.run(fork.Run.ID) != nil {
		return
	}
	w.forks++
	made := &running{plan: &runPlan{Program: of.plan.Program, Holds: of.plan.Holds}, number: of.number, fork: w.forks, id: fork.Run.ID, since: fork.Run.Generation}
	w.runs = append(w.runs, made)
	w.drivers.Go(func() { w.listen(made, fork.Run.ID, 0) })
}

// copies: the fork's events are the run's, but for the results that an operator has given, and for
// links behind these.
func (r *rewinding) copies() {
	kept, got := slices.Clone(r.was.Events[:r.seq]), slices.Clone(r.now.Events)
	if len(kept) != len(got) {
		r.breaks("the fork begins with %d events", len(got))
		return
	}
	results := r.b.a.Fork.Results
	for i := range kept {
		at := slices.IndexFunc(results, func(d driver.Result) bool { return d.Seq == kept[i].Seq })
		if at >= 0 {
			kept[i].Kind, kept[i].Payload = journal.StepCompleted, results[at].Output
		}
		if len(results) > 0 && kept[i].Seq >= results[0].Seq { // checkLinks looks at them
			kept[i].Link, got[i].Link = 0, 0
		}
		if !reflect.DeepEqual(kept[i], got[i]) {
			r.breaks("event %d of the fork is %+v, that of the run %+v", i+1, got[i], kept[i])
		}
	}
}

// given lists the results that operators have given to a step, in the run or in one of which it is a
// fork.
func (s *settled) given(name string) (outputs []string) {
	for _, b := range s.finder.tape.backs {
		if !slices.ContainsFunc(s.ancestors(), func(a *settled) bool { return a.id == b.made }) {
			continue
		}
		for _, g := range b.a.Rewind.Given {
			if g.Name == name {
				outputs = append(outputs, decodeSignal(g.Output))
			}
		}
		if b.a.Fork == nil {
			continue
		}
		of := s.finder.left(b.a.Run)
		for _, d := range b.a.Fork.Results {
			if _, g := b.from(); of != nil && g < len(of.generations()) && int(d.Seq) <= len(of.generations()[g]) && of.generations()[g][d.Seq-1].Name == name {
				outputs = append(outputs, decodeSignal(d.Output))
			}
		}
	}
	return outputs
}
