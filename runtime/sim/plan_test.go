package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// plan is all that a seed decides. It is plain data, so that it can be printed, read again, and
// made smaller.
type plan struct {
	Seed   uint64        `json:"seed"`
	Nodes  []nodePlan    `json:"nodes"`
	Lease  time.Duration `json:"lease"`
	Poll   time.Duration `json:"poll"`
	Drain  time.Duration `json:"drain,omitempty"`
	Slow   time.Duration `json:"slow"` // the longest that a call is in flight, and its answer
	Clock  clockPlan     `json:"clock"`
	Long   int           `json:"long,omitempty"` // how many events make a history long
	Page   int           `json:"page,omitempty"` // bytes of a page of a history; 0: as many as there are
	Slip   verb          `json:"slip,omitempty"` // of a planted fault: what the language does wrong
	Bounds []boundPlan   `json:"bounds,omitempty"`
	Runs   []runPlan     `json:"runs"`
	Jobs   []jobPlan     `json:"jobs,omitempty"`
	Faults []fault       `json:"faults,omitempty"`
}

// nodePlan is how one node is configured.
type nodePlan struct {
	Passivate bool          `json:"passivate,omitempty"`
	LiveMax   int           `json:"liveMax,omitempty"`
	StepsMax  int           `json:"stepsMax,omitempty"`
	WarmIdle  time.Duration `json:"warmIdle,omitempty"`
	Lanes     int           `json:"lanes,omitempty"` // runs are spread over them by chance
}

// clockPlan is the store's clock as the nodes see it. A bubble has one clock, so all nodes share
// their distance to it.
type clockPlan struct {
	Ahead time.Duration `json:"ahead,omitempty"` // of the nodes' clocks; may be negative
	Gain  int64         `json:"gain,omitempty"`  // microseconds that it gains in a second; may be negative
}

// runPlan is one run and what happens to it from outside.
type runPlan struct {
	At      time.Duration `json:"at"` // of its start
	Delay   time.Duration `json:"delay,omitempty"`
	Timeout time.Duration `json:"timeout,omitempty"` // of the whole run
	Via     int           `json:"via,omitempty"`     // the node whose own client starts it, from 1; 0: a client apart
	With    sendKind      `json:"with,omitempty"`    // a message with the start: a signal a, or an update
	Holds   bool          `json:"holds,omitempty"`   // the limit of runs, until it closes
	Program []instr       `json:"program"`
	Sends   []send        `json:"sends,omitempty"` // in order of At
}

// send is what a client does to a run.
type send struct {
	At     time.Duration `json:"at"`
	Do     sendKind      `json:"do"`
	Signal string        `json:"signal,omitempty"`
	Call   callPlan      `json:"call,omitzero"`   // of an update
	Via    int           `json:"via,omitempty"`   // as for the run's start
	Twice  bool          `json:"twice,omitempty"` // of a signal: two clients send it at once, under one key
	Pause  pausePlan     `json:"pause,omitzero"`
	Back   backPlan      `json:"back,omitzero"`

	Priority int `json:"priority,omitempty"` // that an operator gives the run
}

// pausePlan is a pause and the resume that follows. With Nth the pause comes with the run's commit
// of that number, not at its time: whatever the commit, somebody pauses the run beside it.
type pausePlan struct {
	For       time.Duration `json:"for,omitempty"`
	Nth       int           `json:"nth,omitempty"`
	Interrupt bool          `json:"interrupt,omitempty"`
}

// sendKind is what a client does.
type sendKind string

const (
	sendSignal    sendKind = "signal"
	sendCancel    sendKind = "cancel"
	sendResume    sendKind = "resume" // does nothing to a run that is well
	sendTerminate sendKind = "terminate"
	sendUpdate    sendKind = "update" // a call; nobody waits for its answer before the next thing is done
	sendQuery     sendKind = "query"
	sendPause     sendKind = "pause"
	sendLabel     sendKind = "label"    // by an operator
	sendPriority  sendKind = "priority" // the same
	sendRetry     sendKind = "retry"    // the same
	sendReset     sendKind = "reset"    // the same
	sendFork      sendKind = "fork"     // the same
	sendSkip      sendKind = "skip"     // the same
	sendEdit      sendKind = "edit"     // the same
)

// callPlan is what an update asks its handler for.
type callPlan struct {
	Do  callKind      `json:"do"`
	For time.Duration `json:"for,omitempty"`
}

// callKind is how an update goes.
type callKind string

const (
	callPlain  callKind = "plain"  // takes effect at once
	callSleep  callKind = "sleep"  // after For
	callStep   callKind = "step"   // after a step of For
	callFail   callKind = "fail"   // fails after For
	callReject callKind = "reject" // the validator refuses it
	callNobody callKind = "nobody" // has no handler
)

// faultKind is what goes wrong.
type faultKind string

const (
	crash      faultKind = "crash"      // the node dies without a word, and is back after For
	killBefore faultKind = "killBefore" // the node dies at its next commit within For: it is not written
	killAfter  faultKind = "killAfter"  // the same, but it is written
	restart    faultKind = "restart"    // the node is asked to end, and is back after For
	freeze     faultKind = "freeze"     // the node's calls hang for For, and go through then
	partition  faultKind = "partition"  // the node's calls fail for For
	outage     faultKind = "outage"     // every call of everybody fails for For
	lossy      faultKind = "lossy"      // for For, some calls of the node fail before, after, or later than their caller knows
	deaf       faultKind = "deaf"       // for For, hints of everybody are lost, late or doubled
	leap       faultKind = "leap"       // the store's clock goes ahead by For
	goBack     faultKind = "goBack"     // the database loses its last Back commits, and all else that has come behind the first of them
	slowStore  faultKind = "slow"       // for For, calls of the node take up to a hundred times as long; of the client, if Node is 0
	narrow     faultKind = "narrow"     // for For, what the node asks for several members takes too long, written or not; the client, if Node is 0
	heldRows   faultKind = "held"       // for For, a program's open transaction holds the rows of every third run
	readOnly   faultKind = "readOnly"   // for For, the database refuses what writes, as a standby does
	older      faultKind = "older"      // for For, the node cannot read some runs, as if a newer release had worked on them
	pauseScope faultKind = "scope"      // an operator pauses all runs of a scope, number Node of the list, for For; with Back 1 steps are interrupted
	drainNode  faultKind = "drain"      // an operator asks the node to leave, and it is back after For
	echo       faultKind = "echo"       // for For, some calls of the node get no answer, and arrive late, some of them a second time
)

// fault is one thing that goes wrong.
type fault struct {
	At   time.Duration `json:"at"`
	Kind faultKind     `json:"kind"`
	Node int           `json:"node,omitempty"` // from 1; of a lossy, 0 is the client
	For  time.Duration `json:"for"`
	Back int           `json:"back,omitempty"` // of a goBack
}

// calm is when the last fault is over.
func (p *plan) calm() time.Duration {
	var at time.Duration
	for _, f := range p.Faults {
		if f.Kind == narrow { // what is asked for in parts at last is in time
			continue
		}
		at = max(at, f.At+f.For)
		if f.Kind == echo {
			at = max(at, f.At+f.For+p.echoMax())
		}
		if f.Kind == pauseScope || f.Kind == drainNode { // it may have to be said again
			at = max(at, f.At+f.For+callMax+p.Drain)
		}
		if f.Kind == older {
			at = max(at, f.At+f.For+olderRest)
		}
	}
	for i := range p.Jobs {
		at = max(at, p.Jobs[i].At+jobsWithin)
	}
	for i := range p.Runs {
		at = max(at, p.Runs[i].At+p.Runs[i].Delay)
		for _, s := range p.Runs[i].Sends {
			at = max(at, s.At)
			if slices.Contains(backKinds, s.Do) {
				at = max(at, s.At+backWithin+callMax)
			}
		}
	}
	return at + p.pausedMax()
}

// size is what shrinking makes smaller.
func (p *plan) size() int {
	n := len(p.Nodes) + len(p.Faults) + len(p.Jobs)
	for i := range p.Runs {
		n += 1 + len(p.Runs[i].Sends) + count(p.Runs[i].Program)
	}
	return n
}

func (p *plan) clone() *plan {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	c := new(plan)
	if err := json.Unmarshal(text, c); err != nil {
		panic(err)
	}
	return c
}

// String is the plan for people.
func (p *plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: lease %s, poll %s, drain %s, calls take up to %s, store's clock %s ahead and gaining %d µs/s\n",
		p.Seed, p.Lease, p.Poll, p.Drain, p.Slow, p.Clock.Ahead, p.Clock.Gain)
	fmt.Fprintf(&b, "histories are long from %d events on\n", p.Long)
	for _, l := range p.Bounds {
		fmt.Fprintf(&b, "bound %+v\n", l)
	}
	for i, n := range p.Nodes {
		fmt.Fprintf(&b, "node %d: %+v\n", i+1, n)
	}
	for i := range p.Runs {
		r := &p.Runs[i]
		fmt.Fprintf(&b, "run %d: starts at %s via %d, delayed by %s, with %q, holds a place %t\n", i+1, r.At, r.Via, r.Delay, r.With, r.Holds)
		write(&b, r.Program, "  ")
		for _, s := range r.Sends {
			fmt.Fprintf(&b, "  <- at %s: %s %s%s %s via %d, twice %t, %+v %+v\n", s.At, s.Do, s.Signal, s.Call.Do, s.Call.For, s.Via, s.Twice, s.Pause, s.Back)
		}
	}
	for _, j := range p.Jobs {
		fmt.Fprintf(&b, "job at %s: %s\n", j.At, j.Verb)
	}
	for _, f := range p.Faults {
		fmt.Fprintf(&b, "fault at %s: %s of %d for %s, back by %d\n", f.At, f.Kind, f.Node, f.For, f.Back)
	}
	return b.String()
}
