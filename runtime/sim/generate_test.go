package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"
)

// maker draws a plan. It uses nothing but its generator.
type maker struct {
	*rand.Rand
	id     int
	asyncs []int // of the body that is being made, or of one around it; children are below zero
	nested int   // children around what is being made
	kids   int   // made for this run
	tight  bool  // some node has few places for runs
}

// generate returns the plan of a seed.
func generate(seed uint64) *plan {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 0x5eed))}
	p := &plan{
		Seed: seed, Lease: m.between(time.Second, 6*time.Second), Poll: m.between(500*time.Millisecond, 2*time.Second),
		Drain: m.between(time.Millisecond, time.Second), Slow: m.between(20*time.Microsecond, 8*time.Millisecond),
	}
	if m.IntN(2) == 0 {
		p.Clock = clockPlan{Ahead: m.between(-3*time.Hour, 3*time.Hour), Gain: int64(m.IntN(40_001) - 20_000)}
	}
	if m.IntN(3) > 0 {
		p.Long = 3 + m.IntN(15)
	}
	for range 1 + m.IntN(3) {
		p.Nodes = append(p.Nodes, m.node())
	}
	for range 1 + m.IntN(4) {
		p.Runs = append(p.Runs, m.run(len(p.Nodes)))
	}
	for range m.IntN(6) {
		p.Faults = append(p.Faults, m.faults(p)...)
	}
	p.troubles()
	p.pauses()
	p.edits()
	p.goesBack()
	p.operates()
	p.jobs()
	p.bounds()
	p.places()
	if m.IntN(5) == 0 {
		p.Faults = append(p.Faults, fault{At: m.between(0, 6*time.Second), Kind: older, Node: 1 + m.IntN(len(p.Nodes)),
			For: m.between(300*time.Millisecond, 3*time.Second)})
	}
	return p
}

// between draws a duration, more often a short one.
func (m *maker) between(from, to time.Duration) time.Duration {
	f := m.Float64()
	return from + time.Duration(f*f*float64(to-from))
}

func (m *maker) node() nodePlan {
	n := nodePlan{Passivate: m.IntN(4) == 0, Lanes: 1}
	if m.IntN(4) == 0 {
		n.Lanes = 2
	}
	if m.IntN(3) == 0 {
		n.LiveMax, m.tight = 1+m.IntN(3), true
	}
	if m.IntN(3) == 0 {
		n.StepsMax = 1 + m.IntN(2)
	}
	if m.IntN(2) == 0 {
		n.WarmIdle = m.between(50*time.Millisecond, 2*time.Second)
	}
	return n
}

func (m *maker) run(nodes int) runPlan {
	m.id, m.asyncs, m.kids = 0, nil, 0
	r := runPlan{At: m.between(0, 4*time.Second), Program: m.program(3, 2+m.IntN(6))}
	switch m.IntN(8) {
	case 0:
		r.With = sendSignal
	case 1:
		r.With = sendUpdate
	}
	if m.IntN(2) == 0 {
		r.Via = 1 + m.IntN(nodes)
	}
	if m.IntN(8) == 0 {
		r.Delay = m.between(time.Millisecond, 3*time.Second)
	}
	walkOwn(r.Program, func(in *instr) {
		odds := 0
		switch in.Do {
		case doReceive, doPending:
			odds = 9
		case doWithin, doSelect:
			odds = 6
		}
		if m.IntN(10) < odds {
			r.Sends = append(r.Sends, m.signal(in.Name, nodes))
		}
	})
	for range m.IntN(3) {
		r.Sends = append(r.Sends, m.signal(signalNames[m.IntN(len(signalNames))], nodes))
	}
	for range max(0, m.IntN(7)-3) {
		s := send{At: m.between(0, 10*time.Second), Do: sendUpdate, Twice: m.IntN(4) == 0, Via: m.IntN(nodes + 1)}
		s.Call = callPlan{callKinds[m.IntN(len(callKinds))], m.between(time.Millisecond, 3*time.Second)}
		r.Sends = append(r.Sends, s)
	}
	for range max(0, m.IntN(6)-3) {
		r.Sends = append(r.Sends, send{At: m.between(0, 10*time.Second), Do: sendQuery, Via: 1 + m.IntN(nodes)})
	}
	for _, rare := range []struct {
		do   sendKind
		odds int
	}{{sendCancel, 5}, {sendResume, 8}, {sendTerminate, 25}} {
		if m.IntN(rare.odds) == 0 {
			r.Sends = append(r.Sends, send{At: m.between(0, 10*time.Second), Do: rare.do})
		}
	}
	slices.SortFunc(r.Sends, func(a, b send) int { return cmp.Compare(a.At, b.At) })
	if m.IntN(8) == 0 {
		r.Timeout = m.between(100*time.Millisecond, 9*time.Second)
	}
	return r
}

func (m *maker) signal(name string, nodes int) send {
	s := send{At: m.between(0, 10*time.Second), Do: sendSignal, Signal: name, Twice: m.IntN(6) == 0}
	if m.IntN(3) == 0 {
		s.Via = 1 + m.IntN(nodes)
	}
	return s
}

var callKinds = []callKind{callPlain, callPlain, callSleep, callSleep, callStep, callStep, callFail, callReject, callNobody}

// program draws a program, perhaps with further generations.
func (m *maker) program(depth, n int) []instr {
	list := m.body(depth, n)
	for at, generations := &list, []int{0, 0, 0, 1, 2, 3}[m.IntN(6)]; generations > 0 && depth > 1; generations-- {
		m.id++
		m.asyncs = nil // they end with their generation
		next := instr{ID: m.id, Do: doContinue}
		next.Body = m.body(depth-1, m.IntN(4)) // draws further numbers
		*at = append(*at, next)
		at = &(*at)[len(*at)-1].Body
	}
	return list
}

// weights say how often a verb is drawn, the plain ones first.
var weights = []struct {
	verb   verb
	weight int
}{
	{doStep, 26}, {doTx, 7}, {doAsync, 9}, {doAwait, 9}, {doSleep, 9}, {doReceive, 7}, {doWithin, 8}, {doSelect, 9},
	{doStop, 2}, {doTell, 6}, {doKill, 2}, {doFinish, 2}, {doUntil, 3}, {doRecord, 3}, {doLook, 2}, {doChange, 3}, {doPipe, 3},
	{doPlain, 4}, {doPending, 3}, {doPoll, 3}, {doExchange, 3}, {doChance, 3}, {doLog, 3}, {doPost, 3}, {doHint, 3},
	{doTimeout, 6}, {doScope, 4}, {doShield, 2}, {doAll, 7}, {doSaga, 6}, {doTry, 4}, {doMap, 3}, {doLock, 3}, {doCall, 12}, {doSpawn, 12},
	{doGroup, 4}, {doRace, 4}, {doFirst, 3}, {doBest, 3}, {doEvery, 3}, {doPromise, 3}, {doSemaphore, 3}, {doCond, 3}, {doTimer, 3},
}

// body draws a body of n instructions, with bodies inside down to a depth.
func (m *maker) body(depth, n int) []instr {
	known := len(m.asyncs)
	defer func() { m.asyncs = m.asyncs[:known] }()
	var list []instr
	for range n {
		list = append(list, m.instr(depth))
	}
	return list
}

// plainVerbs is how many of the weights are of verbs without a body.
const plainVerbs = 25

// allowed tells whether the i-th verb may be drawn here.
func (m *maker) allowed(i, depth int) bool {
	if v := weights[i].verb; v == doCall || v == doSpawn {
		return depth > 0 && m.nested < 2 && m.kids < 4
	}
	return depth > 0 || i < plainVerbs
}

func (m *maker) verb(depth int) verb {
	total := 0
	for i := range weights {
		if m.allowed(i, depth) {
			total += weights[i].weight
		}
	}
	draw := m.IntN(total)
	for i := range weights {
		if !m.allowed(i, depth) {
			continue
		}
		if draw -= weights[i].weight; draw < 0 {
			return weights[i].verb
		}
	}
	panic("weights do not add up")
}

func (m *maker) instr(depth int) instr { return m.make(m.verb(depth), depth) }

// make draws the rest of an instruction.
func (m *maker) make(do verb, depth int) instr {
	m.id++
	in := instr{ID: m.id, Do: do}
	switch in.Do {
	case doStep, doTx, doAsync, doPlain:
		m.step(&in)
	case doSleep:
		in.For = m.between(0, 3*time.Second)
	case doReceive:
		in.Name = signalNames[m.IntN(len(signalNames))]
	case doWithin, doSelect:
		in.Name, in.For = signalNames[m.IntN(len(signalNames))], m.between(0, 4*time.Second)
	case doTimeout, doScope:
		in.For = m.between(time.Millisecond, 4*time.Second)
	}
	if len(m.asyncs) > 0 && (in.Do == doAwait || in.Do == doSelect && m.IntN(2) == 0) {
		if in.Ref = m.asyncs[m.IntN(len(m.asyncs))]; in.Ref < 0 {
			in.Ref = -in.Ref
		}
	}
	m.further(&in)
	m.together(&in, depth)
	switch in.Do {
	case doTimeout, doScope, doShield, doAll, doSaga, doTry:
		in.Body = m.body(depth-1, 1+m.IntN(4))
	case doCall, doSpawn:
		m.child(&in, depth)
	}
	if in.Do == doSaga {
		for i := range in.Body {
			in.Body[i].Sort.Stays = in.Body[i].undoes() && m.IntN(6) == 0
		}
	}
	return in
}

// further draws what the instructions beside the plain ones need.
func (m *maker) further(in *instr) {
	switch in.Do {
	case doStop, doTell, doKill, doPost:
		in.To = []target{toChild, toChild, toChild, toParent, toParent, toSelf}[m.IntN(6)]
		if in.Do == doTell || in.Do == doPost {
			in.Name = signalNames[m.IntN(len(signalNames))]
		}
		children := slices.DeleteFunc(slices.Clone(m.asyncs), func(ref int) bool { return ref > 0 })
		if len(children) > 0 {
			in.Ref = -children[m.IntN(len(children))]
		} else if in.To == toChild && in.Do != doStop && in.Do != doKill {
			in.To = toSelf
		}
	case doUntil:
		in.For, in.Max = m.between(0, 3*time.Second), 1+m.IntN(2)
	case doPending, doPoll:
		in.Name = signalNames[m.IntN(len(signalNames))]
	case doChance, doHint:
		in.For = m.between(0, 2*time.Second)
	case doExchange:
		in.For, in.Max = m.between(0, time.Second), 1+m.IntN(6)
	case doChange:
		in.For = time.Duration(m.IntN(2))
	case doPipe:
		in.For, in.Max = m.between(0, time.Second), 1+m.IntN(4)
	}
}

// child draws a child's program, and how it is started.
func (m *maker) child(in *instr, depth int) {
	m.kids++
	m.nested++
	outer := m.asyncs
	m.asyncs = nil
	in.Body = m.program(depth-1, 1+m.IntN(4))
	m.asyncs = outer
	m.nested--
	if in.Do == doSpawn {
		m.asyncs = append(m.asyncs, -in.ID)
	}
	if m.IntN(3) == 0 {
		in.Mode = m.IntN(3)
	}
	if m.IntN(4) == 0 {
		in.Kid.Key, in.Kid.Reuse = []string{"k1", "k2", "k3"}[m.IntN(3)], m.IntN(3)
	}
	in.Kid.Close = m.IntN(3)
	if m.IntN(8) == 0 {
		in.Kid.Delay = m.between(time.Millisecond, 2*time.Second)
	}
}

// faultKinds are drawn with equal odds; what is here twice is drawn more often.
var faultKinds = []faultKind{crash, killBefore, killAfter, restart, freeze, freeze, freeze, partition, outage, lossy, deaf, leap, goBack, goBack, echo, echo}

// faults draws a fault, perhaps with another one that makes it worse: the database goes back to
// before nodes joined; a node has been given up when its call arrives.
func (m *maker) faults(p *plan) []fault {
	f := m.fault(p)
	other := fault{Node: 1 + m.IntN(len(p.Nodes)), At: max(f.At-m.between(0, time.Second), 0)}
	switch {
	case f.Kind == goBack && m.IntN(3) == 0: // all join, and their numbers come again
		list := []fault{f}
		for i := range p.Nodes {
			at := max(f.At-m.between(0, 500*time.Millisecond), 0)
			list = append(list, fault{At: at, Kind: crash, Node: i + 1, For: m.between(time.Millisecond, 100*time.Millisecond)})
		}
		return list
	case f.Kind == echo && f.Node > 0 && m.IntN(2) == 0:
		other.Kind, other.Node, other.At, other.For = partition, f.Node, f.At+m.between(0, f.For), p.Lease+m.between(time.Millisecond, p.Lease)
	default:
		return []fault{f}
	}
	return []fault{f, other}
}

func (m *maker) fault(p *plan) fault {
	f := fault{At: m.between(0, 8*time.Second), Kind: faultKinds[m.IntN(len(faultKinds))], Node: 1 + m.IntN(len(p.Nodes))}
	switch f.Kind {
	case crash, restart, outage:
		f.For = m.between(time.Millisecond, 3*time.Second)
	case freeze, partition:
		f.For = m.between(time.Millisecond, 2*p.Lease)
		if m.IntN(3) > 0 {
			f.For += p.Lease
		}
	case leap:
		f.For = m.between(time.Millisecond, 2*p.Lease)
	case goBack:
		f.Back = 1 + int(m.between(0, pastsMax))
	default:
		f.For = m.between(time.Second, 6*time.Second)
	}
	switch f.Kind {
	case outage, deaf, leap, goBack:
		f.Node = 0
	case lossy, echo:
		f.Node = m.IntN(len(p.Nodes) + 1)
	}
	return f
}
