package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// checkModel: every run ends as its model says, and its client hears the same. The model walks the program with the trace
// beside it: the trace chooses where more than one thing may happen, and the model checks that it may.
func checkModel(f *finder) {
	for _, r := range f.runs {
		if !r.Run.Status.Closed() || r.Run.Terminal == nil {
			continue
		}
		if r.Run.Status == journal.Terminated {
			f.ended(r)
			continue
		}
		trace, err := traceOf(r.Run.Terminal)
		if err != nil {
			f.breaks("%s: the trace cannot be read: %v", r, err)
			continue
		}
		m := newModel(r, trace)
		end := m.body(r.plan.Program, m.cancelled)
		m.finish(end)
		for _, p := range m.problems {
			f.breaks("%s: %s (trace %v)", r, p, trace)
		}
		if r.heard && (r.failure == nil) != (r.Run.Status == journal.Completed) {
			f.breaks("%s is %s, its client heard %v", r, r.Run.Status, r.failure)
		}
		if r.heard && r.failure == nil {
			if d := cmp.Diff(trace, r.trace); d != "" {
				f.breaks("%s: its client heard something else (-stored +heard)\n%s", r, d)
			}
		}
	}
}

// ended checks a run whose program was not asked.
func (f *finder) ended(r *settled) {
	if !r.running.terminated {
		f.breaks("%s was terminated by nobody", r)
	}
	if _, ok := errors.AsType[*runtime.TerminatedError](r.failure); r.heard && !ok {
		f.breaks("%s was terminated, its client heard %v", r, r.failure)
	}
}

// traceOf reads the trace out of a terminal event.
func traceOf(ev *journal.Event) (trace []entry, err error) {
	if ev.Kind == journal.RunCompleted {
		err = json.Unmarshal(ev.Payload.Data, &trace)
		return trace, err
	}
	failure, err := journal.DecodeFailure(ev.Payload)
	if err != nil {
		return nil, err
	}
	return trace, json.Unmarshal([]byte(failure.Message), &trace)
}

// ending is how an instruction or a body ends.
type ending int

const (
	goesOn ending = iota
	fails
	isCancelled
)

// model walks one program.
type model struct {
	run       *settled
	trace     map[int]entry
	used      map[int]bool
	loose     map[int]bool // asyncs that may be cancelled
	received  map[string][]string
	outputs   map[string]string // of completed steps, by name
	undone    []string
	cancelled bool // the run was asked to cancel itself
	problems  []string
}

func newModel(r *settled, trace []entry) *model {
	m := &model{run: r, trace: map[int]entry{}, used: map[int]bool{}, loose: map[int]bool{}, received: map[string][]string{}, outputs: map[string]string{}}
	for i := range r.Events {
		switch ev := &r.Events[i]; ev.Kind {
		case journal.CancelRequested:
			m.cancelled = true
		case journal.StepCompleted:
			m.outputs[ev.Name] = decodeSignal(ev.Payload)
			if ev.Name[0] == 'u' {
				m.undone = append(m.undone, ev.Name)
				m.outputs[ev.Name] = ""
			}
		}
	}
	names := map[int]string{}
	walk(r.plan.Program, func(in *instr) { names[in.ID] = in.Name })
	for _, e := range trace {
		if _, twice := m.trace[e.ID]; twice {
			m.problem("instruction %d was executed twice", e.ID)
		}
		m.trace[e.ID] = e
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
		if end := m.one(&list[i], can); end != goesOn {
			return end
		}
	}
	return goesOn
}

// one walks one instruction and checks its entry.
func (m *model) one(in *instr, can bool) ending {
	switch in.Do {
	case doAsync:
		m.loose[in.ID] = can
		return goesOn
	case doAwait:
		if _, known := m.loose[in.Ref]; !known {
			return goesOn
		}
		return m.step(in, m.of(in.Ref), can || m.loose[in.Ref])
	case doStep, doTx:
		return m.step(in, in, can)
	case doSleep:
		return m.plain(in, can, wentOK)
	case doReceive:
		return m.plain(in, can, wentSignal)
	case doWithin:
		return m.plain(in, can, wentSignal, wentLate)
	case doSelect:
		if _, known := m.loose[in.Ref]; known && m.trace[in.ID].What != wentSignal && m.trace[in.ID].What != wentLate {
			return m.step(in, m.of(in.Ref), can || m.loose[in.Ref])
		}
		return m.plain(in, can, wentSignal, wentLate)
	}
	return m.scoped(in, can)
}

// of returns an instruction by its number.
func (m *model) of(id int) (found *instr) {
	walk(m.run.plan.Program, func(in *instr) {
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
	case what == wentOK && !which.fails():
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
	m.ends(in, map[ending]string{goesOn: wentOK, fails: wentFailed, isCancelled: wentCancelled}[end])
	return end
}

func (m *model) ends(in *instr, want string) {
	if what := m.entry(in); what != want {
		m.problem("instruction %s ends with %q, want %q", in, what, want)
	}
}

// saga walks a saga: what was reached is undone exactly if it fails, the newest first.
func (m *model) saga(in *instr, can bool) ending {
	var reached []string
	end := goesOn
	for i := range in.Body {
		if in.Body[i].Do == doStep {
			reached = append(reached, in.Body[i].undo())
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
		mine[in.Body[i].undo()] = true
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
	case end == isCancelled && m.cancelled:
		want = journal.Cancelled
	case end != goesOn:
		want = journal.Failed
	}
	if got := m.run.Run.Status; got != want {
		m.problem("the run is %s, want %s", got, want)
	}
	if m.cancelled && !m.run.cancels {
		m.problem("the run was asked to cancel itself by nobody")
	}
	for id := range m.trace {
		if !m.used[id] {
			m.problem("instruction %d was executed and cannot have been reached", id)
		}
	}
	for name, got := range m.received {
		if came := m.run.payloads(name); len(got) > len(came) || !slices.Equal(got, came[:len(got)]) {
			m.problem("signals %s were received as %q, they came as %q", name, got, came)
		}
	}
}
