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
	asyncs []int // of the body that is being made, or of one around it
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
	for range 1 + m.IntN(3) {
		p.Nodes = append(p.Nodes, m.node())
	}
	for range 1 + m.IntN(4) {
		p.Runs = append(p.Runs, m.run(len(p.Nodes)))
	}
	for range m.IntN(5) {
		p.Faults = append(p.Faults, m.fault(p))
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
		n.LiveMax = 1 + m.IntN(3)
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
	m.id, m.asyncs = 0, nil
	r := runPlan{At: m.between(0, 4*time.Second), Program: m.body(3, 2+m.IntN(7))}
	if m.IntN(2) == 0 {
		r.Via = 1 + m.IntN(nodes)
	}
	if m.IntN(8) == 0 {
		r.Delay = m.between(time.Millisecond, 3*time.Second)
	}
	walk(r.Program, func(in *instr) {
		odds := 0
		switch in.Do {
		case doReceive:
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
	for _, rare := range []struct {
		do   sendKind
		odds int
	}{{sendCancel, 5}, {sendResume, 8}, {sendTerminate, 25}} {
		if m.IntN(rare.odds) == 0 {
			r.Sends = append(r.Sends, send{At: m.between(0, 10*time.Second), Do: rare.do})
		}
	}
	slices.SortFunc(r.Sends, func(a, b send) int { return cmp.Compare(a.At, b.At) })
	return r
}

func (m *maker) signal(name string, nodes int) send {
	s := send{At: m.between(0, 10*time.Second), Do: sendSignal, Signal: name, Twice: m.IntN(6) == 0}
	if m.IntN(3) == 0 {
		s.Via = 1 + m.IntN(nodes)
	}
	return s
}

// weights say how often a verb is drawn, the plain ones first.
var weights = []struct {
	verb   verb
	weight int
}{
	{doStep, 26}, {doTx, 7}, {doAsync, 9}, {doAwait, 9}, {doSleep, 9}, {doReceive, 7}, {doWithin, 8}, {doSelect, 9},
	{doTimeout, 6}, {doScope, 4}, {doShield, 2}, {doAll, 7}, {doSaga, 6}, {doTry, 4},
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

func (m *maker) verb(depth int) verb {
	total := 0
	for i := range weights {
		if depth > 0 || i < 8 {
			total += weights[i].weight
		}
	}
	draw := m.IntN(total)
	for i := range weights {
		if draw -= weights[i].weight; draw < 0 {
			return weights[i].verb
		}
	}
	panic("weights do not add up")
}

func (m *maker) instr(depth int) instr {
	m.id++
	in := instr{ID: m.id, Do: m.verb(depth)}
	switch in.Do {
	case doStep, doTx, doAsync:
		in.For = m.between(0, 800*time.Millisecond)
		if m.IntN(8) == 0 {
			in.For *= 8
		}
		if m.IntN(3) == 0 {
			in.Fail = m.IntN(4)
		}
		if in.Do != doTx && m.IntN(2) == 0 { // a lost transaction is a failed attempt, so a limit would be met by chance
			in.Max = 1 + m.IntN(4)
		}
		if in.Do == doAsync {
			m.asyncs = append(m.asyncs, in.ID)
		}
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
		in.Ref = m.asyncs[m.IntN(len(m.asyncs))]
	}
	switch in.Do {
	case doTimeout, doScope, doShield, doAll, doSaga, doTry:
		in.Body = m.body(depth-1, 1+m.IntN(4))
	}
	return in
}

// faultKinds are drawn with equal odds; what is here twice is drawn more often.
var faultKinds = []faultKind{crash, killBefore, killAfter, restart, freeze, freeze, partition, outage, lossy, deaf, leap}

func (m *maker) fault(p *plan) fault {
	f := fault{At: m.between(0, 8*time.Second), Kind: faultKinds[m.IntN(len(faultKinds))], Node: 1 + m.IntN(len(p.Nodes))}
	switch f.Kind {
	case crash, restart, outage:
		f.For = m.between(time.Millisecond, 3*time.Second)
	case freeze, partition:
		f.For = m.between(time.Millisecond, 2*p.Lease)
		if m.IntN(2) == 0 {
			f.For += p.Lease
		}
	case leap:
		f.For = m.between(time.Millisecond, 2*p.Lease)
	default:
		f.For = m.between(time.Second, 6*time.Second)
	}
	switch f.Kind {
	case outage, deaf, leap:
		f.Node = 0
	case lossy:
		f.Node = m.IntN(len(p.Nodes) + 1)
	}
	return f
}
