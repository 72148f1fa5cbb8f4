package driver

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-run/reprise/journal"
)

// Rewind makes the next generation of a run out of the beginning of its present one (J13). It is
// one mechanism for every verb that goes back: they differ in the point.
//
// What it says of the history follows from events that never change (J1), so it may be made without
// a lock. A store compares Generation and Head under the lock of the task and of the run's row, and
// answers [ErrMoved] if the run is in another generation by then.
//
// The inbox is decided under the lock, by [Rewind.Inbox]: messages that the kept events have not
// consumed come again, or not.
type Rewind struct {
	Generation journal.Generation // the present one
	Head       journal.Head       // the newest event that is kept; Seq 0 for none
	Next       *journal.Rewound   // how the next generation begins
	Before     *journal.Rewound   // how the present one has begun

	// Input and Version are of a generation that keeps no event; a Version of 0 leaves both.
	Input   journal.Payload
	Version int32
	// Consumed are the messages that the kept events name, in order, and Unanswered the updates
	// among them whose reply is not in them: it is given again.
	Consumed   []journal.InboxSeq
	Unanswered []journal.InboxSeq
	// Given are results of steps that the kept events have asked for and that have no outcome in
	// them, by Cmd.
	Given []Given
	// Whole says that the run begins anew: what earlier generations have consumed comes again too.
	Whole bool
	// Messages says which signals and updates behind the point come again. A request to cancel
	// never does. Answers to commands always do, but for a child's that has gone on since: what it
	// answers in the end comes instead.
	Messages Again
	// AtEnd says that the kept events, and Behind others, are all that there are: [ErrMoved] if
	// more have come.
	AtEnd  bool
	Behind int32
	// KeepChildren leaves open children alone that were started behind the point. Else they get a
	// request to cancel, but for those that outlive their parent.
	KeepChildren bool
}

// Again selects messages.
type Again struct {
	None   bool             // none of them but Names
	Names  []string         // of signals and updates; with None those that come again, else all do
	Skip   journal.InboxSeq // one that does not come again, whatever its kind; 0 for none
	Cancel bool             // requests to cancel come again too
}

// Leaves tells whether a message that comes again by its kind is left out.
func (a *Again) Leaves(m *Unread) bool {
	switch {
	case m.Number == a.Skip:
		return true
	case m.Kind == journal.MessageCancel:
		return !a.Cancel
	}
	return !m.Kind.Answers() && a.None && !slices.Contains(a.Names, m.Name)
}

// ErrMoved is the answer to a Rewind that was made from another generation, or another history.
var ErrMoved = errors.New("the run is in another generation by now")

// Unread is a message that is not consumed behind the point of a Rewind, as the store has it.
type Unread struct {
	Number   journal.InboxSeq
	Kind     journal.MessageKind
	Name     string
	Answered bool // an update that was accepted and has a reply
	Rejected bool // an update that was refused: it is done with
	// Stale is an answer of a child that has gone on since: the child is open, or has ended
	// otherwise, or the answer was stale before.
	Stale bool
}

// Inbox is what a Rewind makes of a run's inbox.
type Inbox struct {
	Begin   journal.Continue   // Seen and Carried of the next generation
	Freed   []journal.InboxSeq // their keys become free, see FreedKey
	Stale   bool               // some of these are answers: children that have ended answer again
	Reopen  []journal.InboxSeq // updates that lose their replies, because they get another one
	Discard []journal.InboxSeq // updates that nobody will handle: they are replied to with [Discarded]
}

// From returns behind which messages unread ones are to be looked for, and which before it, given
// how the present generation began; base may be nil.
func (w *Rewind) From(base *journal.Continue) journal.Continue {
	var from journal.Continue
	if base != nil && !w.Whole {
		from = journal.Continue{Seen: base.Seen, Carried: base.Carried}
	}
	var named journal.InboxSeq
	if n := len(w.Consumed); n > 0 {
		named = w.Consumed[n-1]
	}
	from.Carried = slices.DeleteFunc(slices.Clone(from.Carried), func(n journal.InboxSeq) bool { return n <= named })
	from.Seen = max(from.Seen, named)
	return from
}

// Inbox decides over the unread messages, in the order of their numbers. The generation begins
// behind the last one that is left out, or where the present one did; before that, messages that
// come again are carried. Those that the kept events have consumed are among them: no unread one is
// before any of these.
func (w *Rewind) Inbox(base *journal.Continue, unread []Unread) (in Inbox) {
	in.Reopen = slices.Clone(w.Unanswered)
	if base != nil && !w.Whole {
		in.Begin = journal.Continue{Seen: base.Seen, Carried: slices.Clone(base.Carried)}
	}
	left := journal.InboxSeq(0) // the last one that is left out
	again := slices.Clone(w.Consumed)
	for _, m := range unread {
		switch {
		case m.Rejected:
			left = m.Number
			continue
		case m.Stale:
			left, in.Stale = m.Number, true
			in.Freed = append(in.Freed, m.Number)
			continue
		case w.Messages.Leaves(&m):
			left = m.Number
			if m.Kind == journal.MessageCancel {
				in.Freed = append(in.Freed, m.Number)
			} else if m.Kind == journal.MessageUpdate && !m.Answered {
				in.Discard = append(in.Discard, m.Number)
			}
			continue
		case m.Kind == journal.MessageUpdate && m.Answered:
			in.Reopen = append(in.Reopen, m.Number)
		}
		again = append(again, m.Number)
	}
	if left == 0 {
		return in
	}
	in.Begin.Seen = max(in.Begin.Seen, left)
	in.Begin.Carried = slices.DeleteFunc(again, func(n journal.InboxSeq) bool { return n > in.Begin.Seen })
	return in
}

// Discarded is the reply to an update that a Rewind leaves out.
func Discarded() journal.Payload {
	return journal.EncodeFailure(&journal.Failure{Type: journal.FailureAborted, Message: discardedText, Permanent: true})
}

const discardedText = "an operator has reset the run to a point before this update, and has left it out"

// Started tells whether a command of an earlier generation, or of the present one, is among those
// that are kept.
func (w *Rewind) Started(g journal.Generation, cmd journal.Cmd) bool {
	return g > 0 && w.Next.Issuer(0, cmd) == g
}

// Orphans tells whether a child that the command has started is left without the code that waits
// for it, and is to be cancelled. Children of earlier generations are behind the point too if the
// run begins anew: else they stay with it.
func (w *Rewind) Orphans(p *journal.Parent) bool {
	return !w.KeepChildren && p.Policy != journal.CloseAbandon && !w.Started(p.Generation, p.Cmd) &&
		(w.Whole || w.Before.Issuer(w.Generation, p.Cmd) == p.Generation)
}

// Detail is what the audit says of it.
func (w *Rewind) Detail() string {
	what := fmt.Sprintf("generation %d begins anew", w.Generation+1)
	if w.Head.Seq > 0 {
		what = fmt.Sprintf("generation %d begins with events 1 to %d of generation %d", w.Generation+1, w.Head.Seq, w.Generation)
	}
	if n := w.Messages.Skip; n > 0 {
		what += fmt.Sprintf("; message %d is left out", n)
	}
	return auditText(what + givenText(w.givenSteps()))
}

// check refuses what no history has.
func (w *Rewind) check() error {
	switch {
	case w == nil || w.Next == nil || w.Generation < 1 || w.Head.Seq < 0 || w.Next.From != w.Generation || w.Next.Seq != w.Head.Seq:
		return fmt.Errorf("a point of generation and head that do not fit: %w", journal.ErrInvalid)
	case w.Version < 0 || w.Version > 0 && w.Head.Seq > 0:
		return fmt.Errorf("version %d with events that are kept: %w", w.Version, journal.ErrInvalid)
	case w.Generation == math.MaxInt32:
		return &journal.LimitError{What: "generation of the run", Size: int(w.Generation), Max: math.MaxInt32 - 1}
	}
	for i, n := range w.Consumed {
		if n < 1 || i > 0 && n <= w.Consumed[i-1] {
			return fmt.Errorf("messages %v of the kept events: %w", w.Consumed, journal.ErrInvalid)
		}
	}
	if n := w.Messages.Skip; n < 0 || n > 0 && slices.Contains(w.Consumed, n) {
		return fmt.Errorf("message %d is to be left out, and the kept events have it: %w", n, journal.ErrInvalid)
	}
	return w.checkGiven()
}

// EncodeRewound returns the stored form of how a generation began.
func EncodeRewound(r *journal.Rewound) (string, error) {
	if r == nil {
		return "", nil
	}
	b, err := json.Marshal(r)
	return string(b), err
}

// DecodeRewound reads what EncodeRewound wrote. The error is [ErrMalformed].
func DecodeRewound(s string) (*journal.Rewound, error) {
	if s == "" {
		return nil, nil
	}
	r := new(journal.Rewound)
	if err := json.Unmarshal([]byte(s), r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return r, nil
}

// FreedKey is the key that a message gets when a Rewind leaves it out and another one with its key
// may come: a later request to cancel, or what a child answers that has gone on, is no duplicate.
// One that was freed before keeps its key, and so does a request of a [Once].
func FreedKey(key string, n journal.InboxSeq) string {
	end := "/" + strconv.FormatInt(int64(n), 10)
	if key != journal.CancelKey && !strings.HasPrefix(key, childKey) || strings.HasSuffix(key, end) {
		return key
	}
	return key + end
}

// RewoundState is the state of an open task after a Rewind: a pause stays (J11), and nothing else
// holds the run, whose history is another one now.
func RewoundState(s journal.TaskState) journal.TaskState {
	if s.OnHold() {
		return journal.Paused
	}
	return min(s, journal.Ready) // one that waits for its limits goes on to wait
}
