package sim

import (
	"fmt"
	"strings"
	"time"
)

// verb is what an instruction does.
type verb string

const (
	doStep    verb = "step"    // a step, waited for
	doTx      verb = "tx"      // a step in a transaction of the store
	doAsync   verb = "async"   // a step, not waited for
	doAwait   verb = "await"   // waits for the async Ref
	doSleep   verb = "sleep"   // For
	doReceive verb = "receive" // the next signal Name
	doWithin  verb = "within"  // the next signal Name, or For
	doSelect  verb = "select"  // the next signal Name, the async Ref, or a timer of For
	doTimeout verb = "timeout" // Body, in a scope that ends after For
	doScope   verb = "scope"   // Body, in a scope that another strand cancels after For
	doShield  verb = "shield"  // Body, in a scope that is not cancelled with the others
	doAll     verb = "all"     // each instruction of Body in a strand of its own; waits for all
	doSaga    verb = "saga"    // Body; steps in it are undone if it fails
	doTry     verb = "try"     // Body; goes on if it fails
)

// instr is one instruction of a program. Every one has its own number, is executed once at most, and leaves at most one entry
// in the program's trace.
type instr struct {
	ID   int           `json:"id"`
	Do   verb          `json:"do"`
	Name string        `json:"name,omitempty"`
	Ref  int           `json:"ref,omitempty"`
	For  time.Duration `json:"for,omitempty"`  // of a step: how long its body takes
	Fail int           `json:"fail,omitempty"` // attempts of a step that fail
	Max  int           `json:"max,omitempty"`  // attempts that a step has; 0 for no limit
	Body []instr       `json:"body,omitempty"`
}

// step is the name of the instruction's step.
func (in *instr) step() string { return fmt.Sprintf("s%d", in.ID) }

// undo is the name of its compensation.
func (in *instr) undo() string { return fmt.Sprintf("u%d", in.ID) }

// fails tells whether a step fails for good.
func (in *instr) fails() bool { return in.Max > 0 && in.Fail >= in.Max }

func (in *instr) String() string {
	s := fmt.Sprintf("%d %s", in.ID, in.Do)
	if in.Name != "" {
		s += " " + in.Name
	}
	if in.Ref != 0 {
		s += fmt.Sprintf(" of %d", in.Ref)
	}
	if in.For != 0 {
		s += " " + in.For.String()
	}
	if in.Fail > 0 {
		s += fmt.Sprintf(", fails %d of %d", in.Fail, in.Max)
	}
	return s
}

func write(b *strings.Builder, body []instr, indent string) {
	for i := range body {
		fmt.Fprintf(b, "%s%s\n", indent, &body[i])
		write(b, body[i].Body, indent+"  ")
	}
}

// count is how many instructions a program has.
func count(body []instr) int {
	n := len(body)
	for i := range body {
		n += count(body[i].Body)
	}
	return n
}

// walk visits every instruction.
func walk(body []instr, visit func(*instr)) {
	for i := range body {
		visit(&body[i])
		walk(body[i].Body, visit)
	}
}

// receives is how many signals of each name a program may wait for.
func receives(body []instr) map[string]int {
	n := map[string]int{}
	walk(body, func(in *instr) {
		if in.Name != "" {
			n[in.Name]++
		}
	})
	return n
}

// entry is what an instruction came to.
type entry struct {
	ID   int    `json:"id"`
	What string `json:"what"` // one of the words below, or a step's output, or a signal's payload
	Got  string `json:"got,omitempty"`
}

// The words of a trace.
const (
	wentOK        = "ok"
	wentFailed    = "failed"
	wentCancelled = "cancelled"
	wentLate      = "late"   // the time was up
	wentSignal    = "signal" // Got is the signal's payload
	wentEarly     = "early"  // a timer fired before its time: never right
)
