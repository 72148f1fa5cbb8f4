package sim

import (
	"fmt"
	"slices"

	"github.com/reprise-run/reprise/journal"
)

// child checks the end of a child: it is what the child came to, if that had to be waited for.
func (m *model) child(in, which *instr, can bool) ending {
	var kid *settled
	for _, r := range m.f.runs { // that of a branch is another one
		if r.Run.Parent == nil || r.of != which.ID {
			continue
		}
		at := *r.Run.Parent
		if at.Policy = 0; m.mine[at] {
			kid = r
		}
	}
	what := m.entry(in)
	if kid == nil {
		switch {
		case what == wentTaken && which.Kid.Key != "":
			return fails
		case what == wentCancelled && can:
			return isCancelled
		}
		m.problem("instruction %s ends with %q, and there is no such child", in, what)
		return goesOn
	}
	status, soft := kid.Run.Status, kid.endedSoftly()
	switch {
	case what == wentOK && status == journal.Completed:
		out, err := outcomeOf(kid.Run.Terminal)
		if got := m.trace[in.ID].Got; err != nil || got != out.digest() {
			m.problem("instruction %s got %s, its child came to %s", in, got, out.digest())
		}
		return goesOn
	case what == wentFailed && (status == journal.Failed && !soft || status == journal.Terminated):
		return fails
	case what == wentCancelled && (can || soft):
		m.late = m.late || status == journal.Failed && soft
		return isCancelled
	}
	m.problem("instruction %s must not end with %q: its child is %s", in, what, status)
	return goesOn
}

// endedSoftly tells whether the run's end counts as a cancellation for its parent.
func (s *settled) endedSoftly() bool {
	if s.Run.Status != journal.Cancelled && s.Run.Status != journal.Failed {
		return false
	}
	failure, err := journal.DecodeFailure(s.Run.Terminal.Payload)
	return s.Run.Status == journal.Cancelled || err == nil && soft(failure)
}

// soft tells whether a failure, or what has caused it, is a cancellation or a time that was up.
func soft(failure *journal.Failure) bool {
	switch {
	case failure == nil:
		return false
	case failure.Type == journal.FailureCancelled, failure.Type == journal.FailureTimeout, failure.Type == journal.FailureHeartbeat:
		return true
	case failure.Cause != nil:
		return soft(failure.Cause)
	}
	return slices.ContainsFunc(failure.Details, soft)
}

// message checks what became of a signal or a cancel request to another run.
func (m *model) message(in *instr, can bool) ending {
	switch _, known := m.loose[in.Ref]; {
	case in.To == toChild && !known, in.To == toParent && m.run.of == 0:
		return goesOn
	}
	allowed := []string{wentOK, wentRefused}
	if in.To == toSelf {
		allowed = allowed[:1]
	}
	if in.Do == doPost {
		return m.posted(in, m.plain(in, can, allowed...))
	}
	end := m.plain(in, can || in.Do == doKill && in.To == toSelf, allowed...)
	if in.Do != doTell {
		return end
	}
	came := m.f.sent(sentBy(m.run.number, in.ID))
	if what := m.trace[in.ID].What; what == wentOK && !came || what == wentRefused && came && !m.f.repeats(sentBy(m.run.number, in.ID)) {
		m.problem("signal of instruction %s: it came %t, the program was told %q", in, came, what)
	}
	return end
}

// posted checks that what came of two signals is what the program was told.
func (m *model) posted(in *instr, end ending) ending {
	payload := sentBy(m.run.number, in.ID)
	first, second := m.f.sent(payload), m.f.sent(payload+again)
	switch got := m.trace[in.ID]; {
	case m.f.repeats(payload): // those that came may be of another generation
	case got.What == wentOK && !(first && second),
		got.What == wentRefused && (first != (got.Got == again) || second),
		second && !first:
		m.problem("signals of instruction %s: they came %t and %t, the program was told %q", in, first, second, got.What+got.Got)
	}
	return end
}

// further checks what else the language has.
func (m *model) further(in *instr, can bool) ending {
	switch in.Do {
	case doContinue:
		if what := m.entry(in); what != wentOn {
			m.problem("generation %s does not begin, but %q", in, what)
		}
		m.loose, m.long, m.short = map[int]bool{}, nil, nil
		return m.body(in.Body, m.cancelled)
	case doUntil:
		return m.plain(in, can, wentOK, wentLate)
	case doRecord, doLook:
		end := m.plain(in, false, wentOK)
		if got := m.trace[in.ID].Got; !slices.Contains(m.records[in.record()], got) {
			m.problem("instruction %s got %q, recorded is %q", in, got, m.records[in.record()])
		}
		return end
	case doChange:
		return m.plain(in, false, wentOK)
	case doLock, doSemaphore:
		return m.guarded(in, can)
	case doPipe, doExchange:
		end := m.plain(in, can, wentOK)
		values := []int{}
		for i := range in.Max {
			values = append(values, i)
		}
		if got := m.trace[in.ID]; got.What == wentOK && got.Got != fmt.Sprint(values) {
			m.problem("instruction %s got %s", in, got.Got)
		}
		return end
	case doChance:
		end := m.plain(in, can, wentOK)
		if got := m.trace[in.ID]; got.What == wentOK && !slices.Equal(m.records[in.record()], []string{got.Got}) {
			m.problem("instruction %s got %q, recorded is %q", in, got.Got, m.records[in.record()])
		}
		return end
	case doLog:
		return m.plain(in, false, wentOK)
	case doHint:
		return m.hint(in, can)
	}
	return m.plain(in, can, wentOK)
}

// guarded walks instructions of which each waits for its turn.
func (m *model) guarded(in *instr, can bool) ending {
	for i := range in.Body {
		if _, begun := m.trace[in.Body[i].ID]; begun || !can {
			m.one(&in.Body[i], can)
		}
	}
	worst := goesOn
	for i := range in.Body { // the first error by place is told
		at := &in.Body[i]
		what := m.trace[at.ID].What
		if what == "" || what == wentCancelled {
			worst = isCancelled
		} else if what == wentFailed {
			worst = fails
		}
		if worst != goesOn {
			break
		}
	}
	m.ends(in, words[worst])
	return worst
}

// hint checks what is told of the length of the history: it does not become short again.
func (m *model) hint(in *instr, can bool) ending {
	end := m.plain(in, can, wentOK, wentLate)
	switch m.trace[in.ID].What {
	case wentOK:
		long := slices.ContainsFunc(m.run.lineage(), func(p part) bool { return len(p.events()) >= m.f.plan.Long })
		if !long || m.f.plan.Long == 0 {
			m.problem("instruction %s is told of a long history, and no generation has one", in)
		}
		m.long = append(m.long, m.place[in.ID])
	case wentLate:
		m.short = append(m.short, m.place[in.ID])
	}
	if len(m.long) > 0 && len(m.short) > 0 && slices.Min(m.long) < slices.Max(m.short) { // strands tell in any order
		m.problem("the history was long, and is not any more at instruction %s or another one", in)
	}
	return end
}
