package sim

import "time"

// step draws a step.
func (m *maker) step(in *instr) {
	in.For = m.between(0, 800*time.Millisecond)
	if m.IntN(8) == 0 && !m.tight { // a run that is at work gives its place to nobody: others would be late by right
		in.For *= 8
	}
	if m.IntN(3) == 0 {
		in.Fail = m.IntN(4)
	}
	if in.Do == doAsync || in.Do == doStep {
		in.Sort.Tx = m.IntN(6) == 0
	}
	if !in.transacts() { // a lost transaction is a failed attempt, so a limit would be met by chance
		if m.IntN(2) == 0 {
			in.Max = 1 + m.IntN(4)
		}
		in.Sort.Final = m.IntN(8) == 0
	}
	if m.IntN(4) == 0 {
		in.Mode = m.IntN(3)
	}
	in.Sort.Beat = m.IntN(3) == 0
	if m.IntN(4) == 0 {
		in.Sort.After = m.between(2*time.Second, 3*time.Second)
	}
	if !in.transacts() && in.For > 10*time.Millisecond && m.IntN(12) == 0 {
		in.Sort, in.Fail, in.Max = sort{Limit: []limit{limitAttempt, limitSilence}[m.IntN(2)]}, 0, 1+m.IntN(2)
	}
	if in.Do == doPlain && in.Max == 0 && in.Sort.Limit == "" && !in.Sort.Final {
		in.Sort.Tx = in.ID%3 == 0 // it draws nothing, so that seeds keep their programs
	}
	if in.Do == doAsync {
		m.asyncs = append(m.asyncs, in.ID)
	}
}

// enders are verbs that always leave a trace, and that a cancelled scope ends; the last few have a
// body.
var enders = []verb{doStep, doStep, doSleep, doSleep, doTx, doPlain, doWithin, doTimeout, doTry, doSaga, doCall}

// plainEnders is how many of them have none.
const plainEnders = 7

// ender draws an instruction of those.
func (m *maker) ender(depth int) instr {
	n := plainEnders
	if depth > 0 {
		n = len(enders)
	}
	do := enders[m.IntN(n)]
	if do == doCall && (m.nested == 2 || m.kids == 4) {
		do = doStep
	}
	return m.make(do, depth)
}

// together draws the bodies of instructions whose strands belong together.
func (m *maker) together(in *instr, depth int) {
	n, draw := 1+m.IntN(4), func() instr {
		at := m.make(doStep, 0)
		at.Sort.Limit = ""
		return at
	}
	switch in.Do {
	case doGroup, doRace, doCond:
		draw = func() instr { return m.ender(depth - 1) }
		in.Max = m.IntN(3)
	case doMap:
		in.Quick, in.Max = m.IntN(2) == 0, m.IntN(3)
	case doLock, doFirst, doBest, doEvery:
	case doSemaphore:
		in.Max = 1 + m.IntN(4)
	case doPromise:
		n, in.Max = 1, 1+m.IntN(4)
	case doTimer:
		n, in.For, in.Quick = 1, m.between(0, 2*time.Second), m.IntN(2) == 0
		draw = func() instr { return m.ender(0) }
	default:
		return
	}
	doomed := in.Do == doBest && m.IntN(4) == 0
	for range n {
		at := draw()
		if in.Do == doMap {
			at.Max, at.Sort.Final = 0, !at.transacts() // a map repeats what fails, but not for good, and each step is to be asked for once
			if m.IntN(2) == 0 {
				at.Fail = 0
			}
			if m.IntN(5) == 0 {
				at.Tries = 1 + m.IntN(2)
			}
		}
		if doomed {
			at.Fail, at.Sort = 1, sort{Final: true}
		}
		in.Body = append(in.Body, at)
	}
	if in.Do == doGroup && m.IntN(2) == 0 { // one fails while another one waits
		fails, waits := m.make(doStep, 0), m.make(doSleep, 0)
		fails.Sort, fails.Fail = sort{Final: true}, 1
		waits.For += time.Second
		in.Body = append(in.Body, fails, waits)
	}
}
