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

	doCall     verb = "call"     // a child with the program Body, waited for
	doSpawn    verb = "spawn"    // the same, not waited for; an await of Ref may
	doStop     verb = "stop"     // cancels the child Ref
	doTell     verb = "tell"     // sends the signal Name To a run
	doKill     verb = "kill"     // asks a run To end
	doContinue verb = "continue" // the end of a generation; Body is the program of the next one
	doFinish   verb = "finish"   // waits until no update is without an answer
	doUntil    verb = "until"    // waits for Max updates that took effect, or For
	doRecord   verb = "record"   // takes a value from outside
	doLook     verb = "look"     // takes a value from outside that seldom changes
	doChange   verb = "change"   // asks whether it may take a new branch, For > 0: in a scope of its own
	doMap      verb = "map"      // each instruction of Body, two at once, tried Max times; fails at the end if one does, Quick: at once
	doLock     verb = "lock"     // each instruction of Body in a strand, behind one mutex
	doPipe     verb = "pipe"     // Max values through a channel, within For

	doPlain     verb = "plain"     // a step without an output, waited for
	doGroup     verb = "group"     // each instruction of Body in a strand, Max at once; the first that fails cancels the others
	doRace      verb = "race"      // the same, all at once; the first that ends cancels the others
	doFirst     verb = "first"     // the steps of Body, until one has ended
	doBest      verb = "best"      // the same, until one has completed or all have failed
	doEvery     verb = "every"     // the same, until all have completed or one has failed
	doPromise   verb = "promise"   // the step of Body settles a promise that Max strands wait for
	doSemaphore verb = "semaphore" // each instruction of Body in a strand, behind a semaphore of Max
	doCond      verb = "cond"      // each instruction of Body in a strand; others wait until they have ended
	doExchange  verb = "exchange"  // Max values through two channels, within For
	doTimer     verb = "timer"     // a timer of For beside Body, stopped then if it is Quick
	doPending   verb = "pending"   // waits until a signal Name is there, and takes it
	doPoll      verb = "poll"      // takes a signal Name if there is one
	doPost      verb = "post"      // sends the signal Name To a run twice, not waiting in between
	doChance    verb = "chance"    // draws a number and an id, and still knows them after For
	doLog       verb = "log"       // writes a line
	doHint      verb = "hint"      // waits until the history is long, or For
)

// instr is one instruction of a program. Every one has its own number, is executed once at most,
// and leaves at most one entry in the program's trace.
type instr struct {
	ID   int           `json:"id"`
	Do   verb          `json:"do"`
	Name string        `json:"name,omitempty"`
	Ref  int           `json:"ref,omitempty"`
	For  time.Duration `json:"for,omitempty"`  // of a step: how long its body takes
	Fail int           `json:"fail,omitempty"` // attempts of a step that fail
	Max  int           `json:"max,omitempty"`  // attempts that a step has; 0 for no limit
	Sort sort          `json:"sort,omitzero"`  // of a step
	Mode int           `json:"mode,omitempty"` // of a step or a child: its workflow.CancelMode
	To   target        `json:"to,omitempty"`   // of a message; with toChild, Ref
	Kid  kid           `json:"kid,omitzero"`
	Body []instr       `json:"body,omitempty"`

	Quick bool `json:"quick,omitempty"`
	Tries int  `json:"tries,omitempty"` // of an item of a map: how often it fails before it does anything
}

// sort is what is special about a step.
type sort struct {
	Tx    bool          `json:"tx,omitempty"`    // it works in a transaction of the store
	Final bool          `json:"final,omitempty"` // the last attempt that fails says that no other one is of use
	After time.Duration `json:"after,omitempty"` // how long an attempt that fails asks to wait
	Beat  bool          `json:"beat,omitempty"`  // attempts tell that they are alive
	Stays bool          `json:"stays,omitempty"` // of a saga's: its compensation fails for good
	Limit limit         `json:"limit,omitempty"` // that no attempt keeps
	Needs string        `json:"needs,omitempty"` // the limits that it names, by their letters
	Waits bool          `json:"waits,omitempty"` // when it is exhausted it pauses its run, and an operator resumes that
}

// limit is a limit of time that an attempt of a step has.
type limit string

const (
	limitAttempt limit = "attempt" // the whole attempt is too long
	limitSilence limit = "silence" // it does not tell for too long that it is alive
)

// kid is how a child is started.
type kid struct {
	Key   string        `json:"key,omitempty"` // few, so that they meet
	Reuse int           `json:"reuse,omitempty"`
	Close int           `json:"close,omitempty"` // its workflow.ClosePolicy
	Delay time.Duration `json:"delay,omitempty"`
}

// target is whom a message of a program goes to.
type target string

const (
	toChild  target = "child"
	toParent target = "parent" // nobody, if the run has none
	toSelf   target = "self"
)

// job is the input of a run, or of a generation of it.
type job struct {
	Root    int     `json:"root"` // number of the run of the plan that it descends from
	Of      int     `json:"of,omitempty"`
	Program []instr `json:"program"`
	Sofar   outcome `json:"sofar,omitzero"` // of the generations before
}

// outcome is what a program came to.
type outcome struct {
	Trace []entry  `json:"trace,omitempty"`
	Took  []string `json:"took,omitempty"` // the updates that took effect, in order
	// Received counts signals by name.
	Received map[string]int `json:"received,omitempty"`
}

// step is the name of the instruction's step. Only one whose name begins with s has an output.
func (in *instr) step() string {
	if in.Do == doPlain {
		return fmt.Sprintf("d%d", in.ID)
	}
	return fmt.Sprintf("s%d", in.ID)
}

// undo is the name of its compensation.
func (in *instr) undo() string { return fmt.Sprintf("u%d", in.ID) }

// fails tells whether a step fails for good.
func (in *instr) fails() bool {
	return in.Fail > 0 && (in.Sort.Final || in.Max > 0 && in.Fail >= in.Max) && !in.Sort.Waits
}

// exhausts tells whether a step fails as often as it may be tried, and how often it does so.
func (in *instr) exhausts() (sets int) {
	if in.Max == 0 || in.Sort.Final || in.late() || in.transacts() {
		return 0
	}
	return in.Fail / in.Max
}

// late tells whether a step fails because its time is up.
func (in *instr) late() bool { return in.Sort.Limit != "" }

// transacts tells whether the instruction is a step that works in a transaction.
func (in *instr) transacts() bool { return in.Do == doTx || in.Sort.Tx }

// undoes tells whether a saga undoes the instruction.
func (in *instr) undoes() bool { return in.Do == doStep || in.Do == doTx || in.Do == doPlain }

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
	if in.Fail > 0 || in.Max > 0 {
		s += fmt.Sprintf(", fails %d of %d", in.Fail, in.Max)
	}
	if in.Mode != 0 {
		s += fmt.Sprintf(", cancel mode %d", in.Mode)
	}
	if in.To != "" {
		s += " to " + string(in.To)
	}
	if in.Sort != (sort{}) {
		s += fmt.Sprintf(" %+v", in.Sort)
	}
	if in.Quick || in.Tries > 0 {
		s += fmt.Sprintf(" quick %t, tries %d", in.Quick, in.Tries)
	}
	if in.Kid != (kid{}) {
		s += fmt.Sprintf(" %+v", in.Kid)
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

// walkOwn visits every instruction of a run, and not those of its children.
func walkOwn(body []instr, visit func(*instr)) {
	for i := range body {
		visit(&body[i])
		if !body[i].starts() {
			walkOwn(body[i].Body, visit)
		}
	}
}

// idle tells whether the instruction has lost the body that it needs, in a plan that was made
// smaller. It does nothing then.
func (in *instr) idle() bool {
	switch in.Do {
	case doRace, doPromise, doTimer, doFirst, doBest:
		return len(in.Body) == 0
	}
	return false
}

// starts tells whether the instruction starts a child.
func (in *instr) starts() bool { return in.Do == doCall || in.Do == doSpawn }

// receives is how many signals of each name a program may take.
func receives(body []instr) map[string]int {
	n := map[string]int{}
	walkOwn(body, func(in *instr) {
		switch in.Do {
		case doReceive, doWithin, doSelect, doPending, doPoll:
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
	wentLate      = "late"    // the time was up
	wentSignal    = "signal"  // Got is the signal's payload
	wentEarly     = "early"   // a timer fired before its time: never right
	wentWrong     = "wrong"   // Got says what a verb must not do: never right
	wentOn        = "on"      // the next generation
	wentTaken     = "taken"   // the child's key is another run's
	wentRefused   = "refused" // the message: its receiver is closed or never was
)
