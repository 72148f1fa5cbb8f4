package sim

import (
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// waitSlack is by how much a node's estimate of the store's clock may be behind when an attempt
// fails.
const waitSlack = time.Second

// checkAttempts: every attempt of a step has the step's own idempotency key, and sees the last
// heartbeat of the attempt before. A step that failed for good is not tried again, and one that
// asked to wait begins again after that. Keys count commands, so a step whose
// turn was lost when the database went back may get another key.
//
// A step that a rewind leaves without an outcome is executed in a generation that did not ask for
// it, with all its attempts: after a retry with the key that it had, after a reset with another one,
// in a fork with one of the fork's. One that has an outcome in the copied events is not executed
// there (J13).
func checkAttempts(f *finder) {
	type step struct {
		run  journal.RunID
		gen  journal.Generation
		name string
	}
	all := map[step][]*execution{}
	owner, keys := map[string]step{}, map[step]string{}
	for _, e := range f.executions {
		at := step{e.run, e.gen, e.step}
		all[at] = append(all[at], e)
		at.gen = f.performer(e)
		if _, known := keys[at]; !known {
			keys[at] = e.key
		}
		if other, known := owner[e.key]; e.key == "" || f.epoch == 0 && (known && other != at || e.key != keys[at]) {
			f.breaks("step %s of run %s: attempt %d has the key %q, the first one %q", e.step, e.run, e.attempt, e.key, keys[at])
		}
		owner[e.key] = at
	}
	for _, r := range f.runs {
		walkOwn(r.plan.Program, func(in *instr) {
			for gen := range r.generations() {
				list := all[step{r.id, journal.Generation(gen + 1), in.step()}]
				for _, e := range list {
					f.attempt(in, e, list)
				}
				f.copied(part{r, gen}, in.step(), list)
				f.copied(part{r, gen}, in.undo(), all[step{r.id, journal.Generation(gen + 1), in.undo()}])
			}
		})
	}
}

// performer returns the generation that has given the step of an execution its key: the one that has
// asked for it, or the newest behind that which was reset.
func (f *finder) performer(e *execution) journal.Generation {
	r := f.left(e.run)
	if r == nil {
		return e.gen
	}
	at := part{r, int(e.gen) - 1}
	cmd := journal.Cmd(1 + slices.IndexFunc(at.issued(), func(c journal.Issued) bool { return c.Kind == journal.CommandStep && c.Name == e.step }))
	for b := at.begin(); cmd > 0 && cmd <= b.cmds && b.back.a.Kind == driver.AdminRetry; b = at.begin() {
		at.g--
	}
	return journal.Generation(at.g + 1)
}

// copied checks that a step is not executed in a generation whose copied events have its outcome.
func (f *finder) copied(at part, name string, list []*execution) {
	for _, ev := range at.events()[:min(at.begin().kept, len(at.events()))] {
		if (ev.Kind == journal.StepCompleted || ev.Kind == journal.StepFailed) && ev.Name == name && len(list) > 0 && f.epoch == 0 { // else they may be of a generation that is lost
			f.breaks("%s: step %s is executed again in generation %d, which has its outcome as a copy, event %d (J13)", at.run, name, at.g+1, ev.Seq)
		}
	}
}

// attempt checks one execution of a step, among all of them.
func (f *finder) attempt(in *instr, e *execution, all []*execution) {
	if in.Sort.Final && in.Fail > 0 && e.attempt > in.Fail {
		f.breaks("step %s of run %s: attempt %d begins, number %d said that it is of no use", e.step, e.run, e.attempt, in.Fail)
	}
	if in.Sort.Beat && !in.transacts() && !slices.ContainsFunc(all, func(other *execution) bool { return e.follows(other) }) {
		f.breaks("step %s of run %s: attempt %d by %s sees the heartbeat %q", e.step, e.run, e.attempt, e.process, e.saw)
	}
	if in.Sort.After == 0 || e.attempt == 1 || f.plan.bends() || in.transacts() {
		return
	}
	if in.Sort.Waits && (e.attempt-1)%in.Max == 0 { // an operator has given it a new set of attempts
		return
	}
	var failed time.Duration // the earliest that this one may go back to
	for _, other := range all {
		if other.attempt == e.attempt-1 && other.failed > 0 && (failed == 0 || other.failed < failed) {
			failed = other.failed
		}
	}
	if waited := e.began - failed; failed == 0 || waited < in.Sort.After-waitSlack {
		f.breaks("step %s of run %s: attempt %d begins after %s of the %s that the one before asked for", e.step, e.run, e.attempt, waited, in.Sort.After)
	}
}

// follows tells whether an execution sees what it must if it comes after another one: that one's
// last heartbeat if it failed, any of its heartbeats if it was lost and did not count. The first
// execution sees none.
func (e *execution) follows(other *execution) bool {
	switch {
	case e.saw == "":
		return e.attempt == 1
	case other.attempt == e.attempt-1:
		return e.saw == beatOf(other.attempt, other.process, "fails")
	case other.attempt == e.attempt && other != e:
		return e.saw == beatOf(other.attempt, other.process, "begins") || e.saw == beatOf(other.attempt, other.process, "fails")
	}
	return false
}

// bends tells whether a node may think for a while that the store's clock is far behind of what it
// is.
func (p *plan) bends() bool {
	return slices.ContainsFunc(p.Faults, func(f fault) bool { return f.Kind == leap || f.Kind == freeze })
}
