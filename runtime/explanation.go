package runtime

import (
	"fmt"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Explanation is why a run stands where it stands, as of one moment.
type Explanation struct {
	Run     journal.Run
	Reasons []Reason // what is to be dealt with first comes first; never empty
}

// Reason is one thing that a run waits for, or how it has ended.
type Reason struct {
	Kind  ReasonKind
	Text  string    // a sentence
	Since time.Time // zero if nobody knows
	Until time.Time // when it is over by itself; zero if somebody has to act, or something must happen
	// Remedy is who has to do what so that the run goes on; empty if nothing need be done.
	Remedy string
	// Limit is what is known of the wait for a limit; nil for reasons of other kinds.
	Limit *LimitWait
}

// LimitWait is one wait for a limit: of a step, or of the run itself if Claim has no Step.
type LimitWait struct {
	Claim   journal.LimitClaim // what waits, with its limit, its key and its place in line
	Held    int                // how many claims of the key are held
	Waiting int                // how many wait in its line
	// Holders are the first few of those who hold what it waits for, those that have held it for
	// longest first. They are claims of the key, or of all keys if what all of them may hold is
	// full.
	Holders []journal.LimitClaim
	// Expected is an estimate of when it begins; zero if nobody can say. Estimate says how it was
	// computed, or why there is none.
	Expected time.Time
	Estimate string
}

// ReasonKind is what a Reason is about. Programs may branch on it.
type ReasonKind string

// The kinds of reasons.
const (
	ReasonClosed      ReasonKind = "closed"      // the run has ended
	ReasonUnreadable  ReasonKind = "unreadable"  // part of what is stored cannot be read
	ReasonPaused      ReasonKind = "paused"      // an operator or one of its steps has paused it, or is about to
	ReasonQuarantined ReasonKind = "quarantined" // its owners died again and again
	ReasonBlocked     ReasonKind = "blocked"     // its code does not fit its history, or panicked
	ReasonUnserved    ReasonKind = "unserved"    // no live node has its code
	ReasonStruck      ReasonKind = "struck"      // its owner died, and it is kept back for a while
	ReasonLimited     ReasonKind = "limited"     // it waits for limits that it is to hold until it closes
	ReasonDelayed     ReasonKind = "delayed"     // its start said when it begins
	ReasonQueued      ReasonKind = "queued"      // it is due, and waits for a node with room
	ReasonOwned       ReasonKind = "owned"       // a node works on it
	ReasonStep        ReasonKind = "step"
	ReasonLimit       ReasonKind = "limit" // a limit does not let one of its steps begin
	ReasonTimer       ReasonKind = "timer"
	ReasonChild       ReasonKind = "child"
	ReasonSignal      ReasonKind = "signal"
	ReasonInbox       ReasonKind = "inbox" // messages that it has not consumed, and that it is not known to wait for
	ReasonStuck       ReasonKind = "stuck" // its strands wait for each other
	ReasonOther       ReasonKind = "other" // such as a condition, or a channel
	ReasonDeadline    ReasonKind = "deadline"
)

// String returns the explanation as lines for people.
func (e *Explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s of workflow %s, version %d, queue %s, is %s\n", e.Run.ID, e.Run.Workflow, e.Run.Version, e.Run.Queue, e.Run.Status)
	for i := range e.Reasons {
		r := &e.Reasons[i]
		fmt.Fprintf(&b, "%s: %s", r.Kind, r.Text)
		if !r.Since.IsZero() {
			fmt.Fprintf(&b, ", since %s", r.Since.Format(time.RFC3339))
		}
		if !r.Until.IsZero() {
			fmt.Fprintf(&b, ", until %s", r.Until.Format(time.RFC3339))
		}
		b.WriteByte('\n')
		if r.Remedy != "" {
			fmt.Fprintf(&b, "  %s\n", r.Remedy)
		}
		if r.Limit != nil {
			r.Limit.write(&b)
		}
	}
	return b.String()
}

// write adds the holders, a line each.
func (l *LimitWait) write(b *strings.Builder) {
	for i := range l.Holders {
		h := &l.Holders[i]
		fmt.Fprintf(b, "  held by %s since %s, claim %s\n", holderText(h), h.Granted.Format(time.RFC3339), h.Handle())
	}
}

// holderText says in words who has a claim.
func holderText(c *journal.LimitClaim) string {
	who := "run " + c.Run.String()
	if c.Step != "" {
		who = fmt.Sprintf("step %s of run %s", c.Step, c.Run)
	}
	if c.Node != 0 {
		who += fmt.Sprintf(" on node %d", c.Node)
	}
	return who
}
