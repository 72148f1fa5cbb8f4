package journal

import (
	"errors"
	"fmt"
)

// Errors that callers branch on.
var (
	ErrInvalid  = errors.New("invalid")
	ErrNotFound = errors.New("run not found: it was deleted, its start is not committed yet, or this is another store")
	ErrClosed   = errors.New("run is closed")
	ErrOpen     = errors.New("run is open")
	// ErrFenced refuses a commit from an owner that has lost its run (J3).
	ErrFenced = errors.New("run is owned by somebody else, or its stored history is another one")
	// ErrNodeLost tells a node that it was declared dead.
	ErrNodeLost = errors.New("node was declared dead")
	// ErrNoNode says that no node with that number is a member.
	ErrNoNode = errors.New("there is no such live node")
	// ErrNoView says that no view with that name is saved.
	ErrNoView = errors.New("there is no such saved view")
	// ErrNoLimit says that there is no limit with that name and key.
	ErrNoLimit = errors.New("there is no such limit")
	// ErrNoClaim says that a claim of a limit has ended.
	ErrNoClaim = errors.New("there is no such claim: its step has ended, or its node")
	// ErrUnavailable wraps failures of the connection to the store, and what the store says that is
	// about no run, such as a missing right: nothing is known about the call, and it may be
	// repeated (J4).
	ErrUnavailable = errors.New("store is unavailable")
	// ErrStoreClosed says that this program has closed the store. No later call of it succeeds, so
	// it is no ErrUnavailable, and nothing repeats the call: whoever waits for the store gets it at
	// once. End the nodes and callers that use a store before you close it.
	ErrStoreClosed = errors.New("store was closed by this program")
	// ErrTxLost says that a driver.Commit with a Tx was not written and cannot be: the
	// transaction is gone. The step's effects are gone with it.
	ErrTxLost = errors.New("transaction was lost before it committed")
)

// LimitError names what was too large, and the limit.
type LimitError struct {
	What      string
	Size, Max int
	How       string // to go on, if there is more to say than to make it smaller
}

func (e *LimitError) Error() string {
	s := fmt.Sprintf("%s: %d exceeds the limit of %d", e.What, e.Size, e.Max)
	if e.How != "" {
		s += "; " + e.How
	}
	return s
}

// Is makes a LimitError an ErrInvalid.
func (e *LimitError) Is(target error) bool { return target == ErrInvalid }

// TextError names a text that cannot be stored, and why.
type TextError struct {
	What, Text, Why string
}

func (e *TextError) Error() string { return fmt.Sprintf("%s %q: %s", e.What, e.Text, e.Why) }

// Is makes a TextError an ErrInvalid.
func (e *TextError) Is(target error) bool { return target == ErrInvalid }

// encodeError is a value that the codec does not encode. It is an ErrInvalid, whatever error the
// codec has for it.
type encodeError struct {
	what string
	err  error
}

func (e *encodeError) Error() string        { return e.what + ": " + e.err.Error() }
func (e *encodeError) Unwrap() error        { return e.err }
func (e *encodeError) Is(target error) bool { return target == ErrInvalid }

// KeyConflictError says that a key belongs to a run of another workflow.
type KeyConflictError struct {
	Key      string
	Run      RunID
	Workflow string // of the run that has the key
}

func (e *KeyConflictError) Error() string {
	return fmt.Sprintf("key %q belongs to run %s of workflow %q", e.Key, e.Run, e.Workflow)
}
