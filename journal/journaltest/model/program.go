package model

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A program is a list of steps. A step names runs, nodes and keys by small numbers, and says what
// to do relative to what there is: "the owner's next commit", not "fence 3". So any part of a
// program is a program.
type program []step

// The numbers that steps use.
const (
	runsMax     = 8
	nodesMax    = 3
	keysMax     = 3 // of runs; 0 means none
	messageKeys = 6 // keys of messages to one run
)

// verb is what a step does.
type verb int

const (
	doStart verb = iota
	doSend
	doClaim
	doCommit
	doJoin
	doLeave
	doRenew
	doReap
	doExpire
	doRush
	doResume
	doTerminate
	doDelete
	doLoad
	doList
	doPlague
	doDynasty
	doPause
	doLabel
	doPriority
	verbs
)

var verbNames = [verbs]string{"start", "send", "claim", "commit", "join", "leave", "renew", "reap", "expire", "rush", "resume",
	"terminate", "delete", "load", "list", "plague", "dynasty", "pause", "label", "priority"}

// verbWeights is how often each is drawn.
var verbWeights = [verbs]int{14, 12, 26, 44, 4, 1, 1, 3, 2, 5, 3, 2, 5, 4, 4, 0, 2, 5, 4, 4}

// plagueOdds: one step in so many lets ten nodes die under whatever is due.
const plagueOdds = 400

// step is one call. What the numbers of a member mean depends on the verb.
type step struct {
	verb    verb
	node    int
	max     int // of a claim
	choice  int // routes of a join, filter of a list
	members []member
}

// member is one run of a call.
type member struct {
	run int
	// start: key, reuse, and a set of flags; send: key; commit: next, events, and a set of flags.
	what, how, flags int
	// commit: two runs that it has to do with, and a choice for all the rest.
	other, third, pick int
}

// Flags of a started run.
const (
	startUrgent  = 1 << iota // priority 1
	startDelayed             // for an hour
	startOwned               // by the step's node, from birth
	startLabelled
	startRouteB  // another version of the workflow
	startRouteC  // another queue and workflow
	startMessage // with a message
	startFlags   = 7
)

// Flags of a load.
const (
	loadInbox  = 1 << iota // without events
	loadPart               // at most so many events as the step says
	loadAnswer             // of an update, and nothing else
	loadFlags  = 3
)

// Flags of a commit. Those of commits that must be refused are rare.
const (
	commitAgain    = 1 << iota // the last commit of this owner, submitted again (J4)
	commitFence                // with the fence before
	commitTurn                 // with the turn behind
	commitHead                 // built on an empty history (J1)
	commitNode                 // by another node with this one's fence
	commitZombie               // by the owner before
	commitAttempts             // with a step in retry
	commitReject               // the updates that it consumes
	commitReply                // to an update that has no answer
	commitChild                // to start, which is the other run
	commitSignal               // a signal to the third run, and wants to hear of it
	commitMessage              // a message to the other run
	commitContinue             // as the next generation, if the run stays
	commitChildren             // meet their policies, if the run closes
	commitChange               // taken by the code
	commitHold                 // answers a pause, if it keeps the run
	commitLabel                // set by the code
	commitPause                // pauses its run, if it holds it
	commitFlags    = 18
)

// newProgram draws the program of a seed. It is a function of the seed and the number of steps
// alone, so a seed that failed fails again.
func newProgram(seed uint64, steps int) program {
	r := rand.New(rand.NewPCG(seed, 0x5eed))
	total := 0
	for _, w := range verbWeights {
		total += w
	}
	p := program{{verb: doJoin, node: 0}, {verb: doJoin, node: 1}}
	for len(p) < steps {
		if r.IntN(plagueOdds) == 0 {
			p = append(p, step{verb: doPlague})
			continue
		}
		n := r.IntN(total)
		for v, w := range verbWeights {
			if n -= w; n < 0 {
				p = append(p, newStep(r, verb(v)))
				break
			}
		}
	}
	return p
}

// newStep draws the numbers of one step; what they name may not be there when it is carried out.
func newStep(r *rand.Rand, v verb) step {
	s := step{verb: v, node: r.IntN(nodesMax), max: 1 + r.IntN(4), choice: r.IntN(10)}
	size := 1
	switch v {
	case doStart, doSend, doCommit, doLoad:
		size += r.IntN(3)
	case doRush, doResume, doTerminate, doDelete, doPause, doLabel, doPriority:
	case doDynasty:
		size = dynastyLevels
	default:
		return s
	}
	for _, run := range r.Perm(runsMax)[:size] {
		m := member{run: run, what: r.IntN(24), how: r.IntN(16), pick: r.IntN(24)}
		m.drawFlags(r, v)
		s.members = append(s.members, m)
		if v == doSend && r.IntN(2) == 0 { // two to one run
			m.what = r.IntN(24)
			s.members = append(s.members, m)
		}
	}
	return s
}

func (m *member) drawFlags(r *rand.Rand, v verb) {
	flags, odds := startFlags, 6
	switch v {
	case doCommit:
		flags = commitFlags
		m.other, m.third = r.IntN(runsMax), r.IntN(runsMax)
	case doLoad:
		flags, odds = loadFlags, 2
	}
	for bit := range flags {
		if v == doCommit {
			odds = commitOdds(1 << bit)
		}
		if r.IntN(odds) == 0 {
			m.flags |= 1 << bit
		}
	}
}

// commitOdds: a commit has a flag once in so many times.
func commitOdds(flag int) int {
	switch {
	case flag < commitReject: // it must be refused, mostly
		return 14
	case flag == commitChild || flag == commitChildren:
		return 2
	}
	return 4
}

// String returns the step for people.
func (s step) String() string {
	var b strings.Builder
	b.WriteString(verbNames[s.verb])
	switch s.verb {
	case doClaim:
		fmt.Fprintf(&b, " by node %d, up to %d", s.node, s.max)
		if s.reconciles() {
			b.WriteString(", reconciling")
		}
	case doJoin:
		fmt.Fprintf(&b, " of node %d for routes %v", s.node, s.routes())
	case doLeave, doRenew, doReap, doExpire:
		fmt.Fprintf(&b, " by node %d", s.node)
	case doList:
		fmt.Fprintf(&b, " with filter %d", s.choice)
	}
	for i, m := range s.members {
		if i > 0 {
			b.WriteString(";")
		}
		fmt.Fprintf(&b, " run %d", m.run)
		switch s.verb {
		case doStart:
			b.WriteString(m.startText(s.node))
		case doSend:
			b.WriteString(m.sendText())
		case doCommit:
			b.WriteString(m.commitText())
		case doPause:
			fmt.Fprintf(&b, " by %s %d", m.pauseKind(), m.pauseKind())
		case doLabel:
			b.WriteString(" with " + labelText(m.labels()))
		case doPriority:
			fmt.Fprintf(&b, " to %d", m.priority())
		case doLoad:
			fmt.Fprintf(&b, " behind event %d and message %d%s", m.afterSeq(), m.afterInbox(),
				m.flagText("inbox only", fmt.Sprintf("at most %d events", s.max), fmt.Sprintf("the answer to message %d", 1+m.what/3)))
		}
	}
	return b.String()
}

// reconciles tells whether a claim also asks for what an earlier answer may have told.
func (s step) reconciles() bool { return s.choice == 0 }

// routes returns the numbers of the routes that a joining node serves.
func (s step) routes() []int {
	if s.choice == 0 {
		return []int{0}
	}
	return []int{0, 1, 2}
}

func (m member) has(flag int) bool { return m.flags&flag != 0 }

// flagText names the flags that are set.
func (m member) flagText(names ...string) string {
	text := ""
	for bit, name := range names {
		if m.has(1 << bit) {
			text += ", " + name
		}
	}
	return text
}

func (m member) key() int { return m.what % (keysMax + 1) }

func (m member) reuse() int { return m.how % 3 }

// pauseKind is how an operator pauses the run.
func (m member) pauseKind() driver.AdminKind {
	if m.how%3 == 0 {
		return driver.AdminInterrupt
	}
	return driver.AdminPause
}

// labels are what an operator changes: one of them is that by which runs are listed.
func (m member) labels() map[string]*string {
	value := []string{"ü", "1", "2"}[m.how%3]
	changes := map[string]*string{[]string{"l", "m", "n"}[m.pick%3]: &value}
	if m.what%3 == 0 {
		changes[[]string{"m", "n", "l"}[m.pick%3]] = nil
	}
	return changes
}

// labelText names labels for people.
func labelText(changes map[string]*string) string {
	text := "labels"
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		value := "-"
		if changes[name] != nil {
			value = *changes[name]
		}
		text += " " + name + "=" + value
	}
	return text
}

// priority is what an operator gives the run.
func (m member) priority() int16 { return int16(1 + m.what%journal.PriorityMax) }

func (m member) startText(node int) string {
	text := ""
	if m.key() > 0 {
		text = fmt.Sprintf(" with key %d (%s)", m.key(), []string{"reject", "allow", "allow if failed"}[m.reuse()])
	}
	return text + m.flagText("urgent", "delayed", fmt.Sprintf("owned by node %d", node), "labelled", "version 2", "other queue", "with a message")
}

func (m member) sendText() string {
	switch {
	case m.what == 0:
		return " a cancel"
	case m.what%3 == 0:
		return fmt.Sprintf(" update %d", m.what%messageKeys)
	}
	return fmt.Sprintf(" message %d", m.what%messageKeys)
}

// The ways to end a turn, in the order of member.what; the rest keep the run.
var endings = []string{"park", "park until then", "park until the past", "release", "block", "block until then", "close completed",
	"close failed", "close cancelled", "close terminated"}

func (m member) commitText() string {
	ending := "keep"
	if m.what < len(endings) {
		ending = endings[m.what]
	}
	return fmt.Sprintf(" %d steps, %d messages, %s%s", m.steps(), m.messages(), ending, m.flagText("again", "with the fence before",
		"with the turn behind", "on an empty history", "as another node", "by the owner before", "with an attempt",
		"rejecting updates", "answering one", fmt.Sprintf("starting run %d (%d)", m.other, m.pick), fmt.Sprintf("signalling run %d (%d)", m.third, m.pick),
		fmt.Sprintf("with a message to run %d (%d)", m.other, m.pick), fmt.Sprintf("continuing (%d)", m.pick), "closing its children", "taking a change", "holding the run", "setting "+labelText(m.labels())))
}

func (m member) afterSeq() int   { return m.what % 4 }
func (m member) afterInbox() int { return m.how % 3 }
func (m member) steps() int      { return m.how % 4 }
func (m member) messages() int   { return m.how / 4 }
