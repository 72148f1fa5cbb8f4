package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// checkModel: every run ends as its model says, and its client hears the same. The model walks the
// program with the trace beside it: the trace chooses where more than one thing may happen, and the
// model checks that it may.
func checkModel(f *finder) {
	for _, r := range f.runs {
		if !r.Run.Status.Closed() || r.Run.Terminal == nil {
			continue
		}
		if r.wasNotAsked() {
			f.ended(r)
			continue
		}
		out, err := outcomeOf(r.Run.Terminal)
		if err != nil {
			f.breaks("%s: the trace cannot be read: %v", r, err)
			continue
		}
		m := newModel(f, r, out.Trace)
		end := m.body(r.plan.Program, m.cancelled)
		m.finish(end)
		for _, p := range m.problems {
			f.breaks("%s: %s (trace %v)", r, p, out.Trace)
		}
		f.heard(r)
	}
}

// heard checks that the client of a run has heard an end of it, if any: one behind the last rewind
// that came before it began to wait.
func (f *finder) heard(r *settled) {
	if !r.running.heard {
		return
	}
	for _, e := range r.ends() {
		if e.generation < r.since || (r.failure == nil) != (e.terminal.Kind == journal.RunCompleted) {
			continue
		}
		if out, err := outcomeOf(e.terminal); r.failure != nil || err == nil && cmp.Equal(out, r.out) {
			return
		}
	}
	f.breaks("%s is %s with %s, its client heard %+v, %v", r, r.Run.Status, r.Run.Terminal.Payload.Data, r.out, r.failure)
}

// ended checks a run whose program was not asked.
func (f *finder) ended(r *settled) {
	if r.isPushedOut() {
		f.pushedOut(r)
		return
	}
	if !r.running.terminated && r.of == 0 {
		f.breaks("%s was terminated by nobody", r)
	}
	if _, ok := errors.AsType[*runtime.TerminatedError](r.failure); r.heard && !ok {
		f.breaks("%s was terminated, its client heard %v", r, r.failure)
	}
}

// outcomeOf reads what a program came to out of a terminal event.
func outcomeOf(ev *journal.Event) (out outcome, err error) {
	if ev.Kind == journal.RunCompleted {
		err = json.Unmarshal(ev.Payload.Data, &out)
		return out, err
	}
	failure, err := journal.DecodeFailure(ev.Payload)
	if err != nil {
		return out, err
	}
	if failure.Type == journal.FailureTimeout && failure.Cause != nil { // the run's time was up
		failure = failure.Cause
	}
	err = json.Unmarshal([]byte(failure.Message), &out)
	return out, err
}

// ending is how an instruction or a body ends.
type ending int

const (
	goesOn ending = iota
	fails
	isCancelled
)

// words say in a trace how an instruction with a body ends.
var words = map[ending]string{goesOn: wentOK, fails: wentFailed, isCancelled: wentCancelled}

// model walks one program.
type model struct {
	f         *finder
	run       *settled
	trace     map[int]entry
	place     map[int]int // in the trace
	used      map[int]bool
	loose     map[int]bool // asyncs that may be cancelled, children among them
	stopped   map[int]bool // children that some instruction cancels
	records   map[string][]string
	received  map[string][]string
	outputs   map[string]string // of completed steps, by name
	undone    []string
	cancelled bool // the run was asked to cancel itself, or its time was up
	timedOut  bool // its time was up, before anybody asked
	upAt      time.Time
	mine      map[journal.Parent]bool // commands that children may name
	late      bool                    // a step or a child has failed because its time was up, which looks like a cancellation and is none of the run
	long      []int                   // where in the trace its generation was told that its history is long
	short     []int                   // and where that it is not
	problems  []string
}

func newModel(f *finder, r *settled, trace []entry) *model {
	m := &model{
		f: f, run: r, trace: map[int]entry{}, place: map[int]int{}, used: map[int]bool{}, loose: map[int]bool{}, received: map[string][]string{},
		outputs: map[string]string{}, stopped: map[int]bool{}, records: map[string][]string{}, mine: r.commandsOf(),
	}
	for ev := range r.events() {
		for _, c := range ev.Issued {
			if c.Kind == journal.CommandRecord {
				if p, err := c.Value(); err == nil {
					m.records[c.Name] = append(m.records[c.Name], decodeSignal(p))
				}
			}
		}
		switch ev.Kind {
		case journal.CancelRequested:
			if ev.Inbox == 0 && len(r.ancestors()) > 1 {
				m.timedOut = m.timedOut || !m.cancelled // by the clock of the other run, if it is a copy
			} else if ev.Inbox == 0 {
				m.timedOut, m.upAt = m.timedOut || !m.cancelled, ev.Time
			}
			m.cancelled = true
		case journal.StepCompleted:
			if ev.Name[0] == 's' {
				m.outputs[ev.Name] = decodeSignal(ev.Payload)
			}
			if ev.Name[0] == 'u' {
				m.undone = append(m.undone, ev.Name)
			}
		case journal.StepFailed:
			if ev.Name[0] == 'u' {
				m.undone = append(m.undone, ev.Name+" stays")
			}
		}
	}
	names := map[int]string{}
	walkOwn(r.plan.Program, func(in *instr) {
		names[in.ID] = in.Name
		if in.Do == doStop {
			m.stopped[in.Ref] = true
		}
	})
	for i, e := range trace {
		if e.What == wentWrong {
			m.problem("instruction %d: %s", e.ID, e.Got)
			continue
		}
		if _, twice := m.trace[e.ID]; twice {
			m.problem("instruction %d was executed twice", e.ID)
		}
		m.trace[e.ID], m.place[e.ID] = e, i
		if e.What == wentSignal {
			m.received[names[e.ID]] = append(m.received[names[e.ID]], e.Got)
		}
	}
	return m
}

func (m *model) problem(format string, args ...any) {
	m.problems = append(m.problems, fmt.Sprintf(format, args...))
}

// body walks a body in a scope that can or cannot be cancelled.
func (m *model) body(list []instr, can bool) ending {
	for i := range list {
		end := m.one(&list[i], can)
		if end != goesOn || list[i].Do == doContinue {
			return end
		}
	}
	return goesOn
}

// one walks one instruction and checks its entry.
func (m *model) one(in *instr, can bool) ending {
	if in.idle() {
		return goesOn
	}
	switch in.Do {
	case doAsync, doSpawn:
		m.loose[in.ID] = can || m.stopped[in.ID]
		return goesOn
	case doCall:
		return m.child(in, in, can)
	case doStop:
		return goesOn
	case doTell, doKill, doPost:
		return m.message(in, can)
	case doAwait:
		if _, known := m.loose[in.Ref]; !known {
			return goesOn
		}
		return m.future(in, can)
	case doStep, doTx, doPlain:
		return m.step(in, in, can)
	case doSleep:
		return m.plain(in, can, wentOK)
	case doReceive, doPending:
		return m.plain(in, can, wentSignal)
	case doPoll:
		return m.plain(in, false, wentSignal, wentLate)
	case doWithin:
		return m.plain(in, can, wentSignal, wentLate)
	case doSelect:
		if _, known := m.loose[in.Ref]; known && m.trace[in.ID].What != wentSignal && m.trace[in.ID].What != wentLate {
			return m.future(in, can)
		}
		return m.plain(in, can, wentSignal, wentLate)
	case doTimeout, doScope, doShield, doAll, doTry, doSaga:
		return m.scoped(in, can)
	case doGroup, doRace, doMap, doCond, doTimer:
		return m.together(in, can)
	case doFirst, doBest, doEvery, doPromise:
		return m.futures(in, can)
	}
	return m.further(in, can)
}

// future checks the end of what was begun before.
func (m *model) future(in *instr, can bool) ending {
	which := m.of(in.Ref)
	if which.starts() {
		return m.child(in, which, can || m.loose[in.Ref])
	}
	return m.step(in, which, can || m.loose[in.Ref])
}

// of returns an instruction by its number.
func (m *model) of(id int) (found *instr) {
	walkOwn(m.run.plan.Program, func(in *instr) {
		if in.ID == id {
			found = in
		}
	})
	return found
}

// entry takes an instruction's entry.
func (m *model) entry(in *instr) string {
	e, ok := m.trace[in.ID]
	if !ok {
		m.problem("instruction %s was reached and left no trace", in)
		return ""
	}
	m.used[in.ID] = true
	return e.What
}

// step checks the end of a step: which one says what the plan is.
func (m *model) step(in, which *instr, can bool) ending {
	switch what := m.entry(in); {
	case what == wentCancelled && which.late():
		m.late = true
		return isCancelled
	case what == wentOK && (!which.fails() && !which.late() || m.mended(which)):
		if got, want := m.trace[in.ID].Got, m.outputs[which.step()]; got != want {
			m.problem("instruction %s got %q, recorded is %q", in, got, want)
		}
		return goesOn
	case what == wentFailed && which.fails():
		return fails
	case what == wentCancelled && can:
		return isCancelled
	default:
		m.problem("instruction %s must not end with %q", in, what)
		return goesOn
	}
}

// mended tells whether a step that fails by plan may complete: an operator has given it a result, or
// has gone back after somebody had mended what it calls.
func (m *model) mended(in *instr) bool {
	return len(m.run.given(in.step())) > 0 || slices.ContainsFunc(m.run.ancestors(), func(s *settled) bool { return m.f.world.mended[s.id] > 0 })
}

// plain checks the end of a wait.
func (m *model) plain(in *instr, can bool, allowed ...string) ending {
	what := m.entry(in)
	switch {
	case slices.Contains(allowed, what):
		return goesOn
	case what == wentCancelled && can:
		return isCancelled
	}
	m.problem("instruction %s must not end with %q", in, what)
	return goesOn
}

// scoped walks an instruction with a body.
func (m *model) scoped(in *instr, can bool) ending {
	var end ending
	switch in.Do {
	case doTimeout, doScope:
		end = m.body(in.Body, true)
		if end == isCancelled {
			what := m.entry(in)
			switch {
			case what == wentLate:
				return goesOn
			case what == wentCancelled && can:
				return isCancelled
			}
			m.problem("the scope %s must not end with %q", in, what)
			return goesOn
		}
	case doShield:
		end = m.body(in.Body, false)
	case doAll:
		for i := range in.Body {
			if e := m.one(&in.Body[i], can); end == goesOn {
				end = e
			}
		}
	case doSaga:
		end = m.saga(in, can)
	case doTry:
		if end = m.body(in.Body, can); end == fails {
			m.ends(in, wentFailed)
			return goesOn
		}
	}
	m.ends(in, words[end])
	return end
}

func (m *model) ends(in *instr, want string) {
	if what := m.entry(in); what != want {
		m.problem("instruction %s ends with %q, want %q", in, what, want)
	}
}

// undone is what undoing the instruction comes to.
func (in *instr) undone() string {
	if in.Sort.Stays {
		return in.undo() + " stays"
	}
	return in.undo()
}

// saga walks a saga: what was reached is undone exactly if it fails, the newest first.
func (m *model) saga(in *instr, can bool) ending {
	var reached []string
	end := goesOn
	for i := range in.Body {
		if at := &in.Body[i]; at.undoes() {
			reached = append(reached, at.undone())
		}
		if end = m.one(&in.Body[i], can); end != goesOn {
			break
		}
	}
	slices.Reverse(reached)
	if end == goesOn {
		reached = nil
	}
	mine := map[string]bool{}
	for i := range in.Body {
		mine[in.Body[i].undone()] = true
	}
	var undone []string
	for _, name := range m.undone {
		if mine[name] {
			undone = append(undone, name)
		}
	}
	if !slices.Equal(undone, reached) {
		m.problem("saga %d undid %q, want %q", in.ID, undone, reached)
	}
	return end
}

// finish checks what concerns the whole run.
func (m *model) finish(end ending) {
	want := journal.Completed
	switch {
	case end == isCancelled && m.cancelled && !m.timedOut:
		want = journal.Cancelled
	case end != goesOn:
		want = journal.Failed
	}
	if got := m.run.Run.Status; got != want && !(m.late && want == journal.Cancelled && got == journal.Failed) {
		m.problem("the run is %s, want %s", got, want)
	}
	if at := m.run.Run.StartAt.Add(m.run.Run.Timeout); m.timedOut && (m.run.Run.Timeout == 0 || m.upAt.Before(at) && !m.upAt.IsZero()) {
		m.problem("its time was up at %s, it has %s from %s on", m.upAt, m.run.Run.Timeout, m.run.Run.StartAt)
	}
	if m.cancelled && !m.timedOut && !m.run.mayBeCancelled(m.f) {
		m.problem("the run was asked to cancel itself by nobody")
	}
	for id := range m.trace {
		if !m.used[id] {
			m.problem("instruction %d was executed and cannot have been reached", id)
		}
	}
	for name, got := range m.received {
		if came := m.run.taken(name); len(got) > len(came) || !slices.Equal(got, came[:len(got)]) {
			m.problem("signals %s were received as %q, they were consumed as %q", name, got, came)
		}
	}
}
