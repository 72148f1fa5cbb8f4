package journal

import (
	"fmt"
	"strings"
)

// OnFull says what happens to a run that comes to wait for a limit when as many wait as
// [Limit].MaxBacklog allows. The numbers are stored.
type OnFull int16

// What happens.
const (
	OnFullDefault      OnFull = 0 // OnFullReject if there is a MaxBacklog, else OnFullWait
	OnFullWait         OnFull = 1 // it waits: nothing is ever full
	OnFullReject       OnFull = 2 // its start is refused with a [LimitFullError], and nothing of it is stored
	OnFullCancelOldest OnFull = 3 // of those that wait and have never begun, the one that has come first is cancelled, and it waits
	OnFullCancelNewest OnFull = 4 // it is stored, and is cancelled at once
)

var onFullWords = [...]string{OnFullDefault: "default", OnFullWait: "wait", OnFullReject: "reject", OnFullCancelOldest: "cancel oldest",
	OnFullCancelNewest: "cancel newest"}

// OnFullWords are the words of ParseOnFull, with which people say what happens.
func OnFullWords() []string { return onFullWords[OnFullWait:] }

// String is the word that people use.
func (f OnFull) String() string {
	if f < 0 || int(f) >= len(onFullWords) {
		return fmt.Sprintf("OnFull(%d)", int16(f))
	}
	return onFullWords[f]
}

// ParseOnFull reads a word of OnFullWords; an empty text is OnFullDefault.
func ParseOnFull(text string) (OnFull, error) {
	if text == "" {
		return OnFullDefault, nil
	}
	for f := OnFullWait; int(f) < len(onFullWords); f++ {
		if onFullWords[f] == text {
			return f, nil
		}
	}
	return 0, fmt.Errorf("OnFull is %q: %w: it must be one of: %s", text, ErrInvalid, strings.Join(OnFullWords(), ", "))
}

// check tells what it must be instead, beside a MaxBacklog; empty if it is right.
func (f OnFull) check(backlog int) (want string) {
	switch {
	case f < 0 || int(f) >= len(onFullWords):
		return "one of: " + strings.Join(OnFullWords(), ", ")
	case backlog == 0 && f > OnFullWait:
		return "wait if there is no MaxBacklog: set MaxBacklog, too"
	case backlog > 0 && f == OnFullWait:
		return "another one beside a MaxBacklog: set MaxBacklog to 0 and all may wait"
	}
	return ""
}

func (f OnFull) orDefault(backlog int) OnFull {
	switch {
	case f != OnFullDefault:
		return f
	case backlog > 0:
		return OnFullReject
	}
	return OnFullWait
}

// LimitFullError refuses the start of a run: as many wait for a limit as its MaxBacklog allows.
type LimitFullError struct {
	Limit, Key string
	MaxBacklog int
}

func (e *LimitFullError) Error() string {
	return fmt.Sprintf("%s is full: its MaxBacklog of %d is used up by runs that wait; start the run later, or raise MaxBacklog",
		LimitNeed{Name: e.Limit, Key: e.Key}, e.MaxBacklog)
}

// CancelledPayload returns the outcome of a run that is cancelled without running its code.
func CancelledPayload(reason string) Payload {
	return EncodeFailure(&Failure{Type: FailureCancelled, Message: reason, Permanent: true})
}
