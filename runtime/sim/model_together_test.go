package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// together walks instructions that run at once.
func (m *model) together(in *instr, can bool) ending {
	var end ending
	switch {
	case in.Do == doTimer:
		if end = m.one(&in.Body[0], can); end == goesOn {
			return m.plain(in, can, wentOK)
		}
	case in.Do == doCond:
		for i := range in.Body {
			if e := m.one(&in.Body[i], can); end == goesOn {
				end = e
			}
		}
		if can && m.trace[in.ID].What == wentCancelled {
			end = isCancelled
		}
	case in.Do == doRace:
		end = m.firstOf(in, can, true)
	case in.Do == doMap && !in.Quick:
		end = m.collected(in, can)
	default:
		end = m.firstOf(in, can, false)
	}
	m.ends(in, words[end])
	return end
}

// inOrder lists the instructions of Body that have an end, in the order of it.
func (m *model) inOrder(in *instr) []*instr {
	var list []*instr
	for i := range in.Body {
		if _, ended := m.trace[in.Body[i].ID]; ended {
			list = append(list, &in.Body[i])
		}
	}
	slices.SortFunc(list, func(a, b *instr) int { return cmp.Compare(m.place[a.ID], m.place[b.ID]) })
	return list
}

// firstOf walks instructions of which the first that fails, or in a race the first that ends,
// cancels the others. Those that were not begun then are not.
func (m *model) firstOf(in *instr, can, race bool) ending {
	order := m.inOrder(in)
	end, over := goesOn, false
	for _, at := range order {
		if !over {
			end = m.item(at, can)
			over = race || end != goesOn
			continue
		}
		if e := m.item(at, true); at.Do == doSleep && at.For > 0 && e == goesOn {
			m.problem("instruction %s goes on to its end, %s had ended before", at, in)
		}
	}
	missing := len(in.Body) - len(order)
	switch {
	case race && missing > 0, missing > 0 && !over && !can:
		m.problem("%d instructions of %s are not begun or have no end", missing, in)
	case missing > 0 && !over:
		end = isCancelled
	case race && end == goesOn:
		if got := m.trace[in.ID].Got; got != fmt.Sprint(slices.IndexFunc(in.Body, func(at instr) bool { return at.ID == order[0].ID })) {
			m.problem("number %s wins %s, and the first to end is %s", got, in, order[0])
		}
	}
	if end == isCancelled && m.mayFail(in) && m.trace[in.ID].What == wentFailed {
		end = fails
	}
	return end
}

// item walks one of them. One of a map may have been tried and not done.
func (m *model) item(at *instr, can bool) ending {
	if at.Tries > 0 && m.trace[at.ID].What == wentFailed {
		m.entry(at)
		return fails
	}
	return m.one(at, can)
}

// mayFail tells whether an item may have failed before it did anything, and have been cancelled
// before it was tried again: it has no end of its own then, and the error is that of its last try.
func (m *model) mayFail(in *instr) bool {
	return slices.ContainsFunc(in.Body, func(at instr) bool { _, ended := m.trace[at.ID]; return at.Tries > 0 && !ended })
}

// collected walks the items of a map that goes on when one fails.
func (m *model) collected(in *instr, can bool) ending {
	end := goesOn
	for i := range in.Body {
		if _, ended := m.trace[in.Body[i].ID]; ended || !can {
			end = max(end, m.item(&in.Body[i], can))
		} else if what := m.trace[in.ID].What; what == wentCancelled || what == wentFailed && m.mayFail(in) {
			end = max(end, map[string]ending{wentCancelled: isCancelled, wentFailed: fails}[what])
		}
	}
	return end
}

// futures walks instructions that wait for several outcomes, or for one in several strands.
func (m *model) futures(in *instr, can bool) ending {
	what, got := m.trace[in.ID].What, m.trace[in.ID].Got
	if what == wentCancelled && can && (in.Do != doFirst || got == "-1") {
		m.entry(in)
		for i := range in.Body {
			if _, ended := m.trace[in.Body[i].ID]; ended {
				m.one(&in.Body[i], true)
			}
		}
		return isCancelled
	}
	end := goesOn
	switch n, _ := strconv.Atoi(got); {
	case in.Do == doPromise:
		end = m.one(&in.Body[0], can)
		if want := m.outputs[in.Body[0].step()]; end == goesOn && got != want {
			m.problem("instruction %s gives %q, its step %q", in, got, want)
		}
	case in.Do == doFirst && n >= 0, in.Do == doBest && n >= 0:
		if end = m.one(&in.Body[n], can); in.Do == doBest && end != goesOn {
			m.problem("instruction %s takes %s, which has not completed", in, &in.Body[n])
		}
	case in.Do == doFirst:
		m.problem("instruction %s is the first of nothing", in)
	case in.Do == doBest:
		if end = fails; slices.ContainsFunc(in.Body, func(at instr) bool { return !at.fails() }) {
			m.problem("all steps of %s have failed, and not all do", in)
		}
	case what == wentOK:
		for i := range in.Body {
			end = max(end, m.one(&in.Body[i], can))
		}
	default:
		if end = fails; !slices.ContainsFunc(in.Body, func(at instr) bool { return at.fails() }) {
			m.problem("some step of %s has failed, and none does", in)
		}
	}
	m.ends(in, words[end])
	return end
}
