package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

// ErrUnmet matches the error of a run that failed because the conditions of a node did not hold,
// and whose option Unmet is Fail.
var ErrUnmet = errors.New("the conditions of the node do not hold")

// The errors of a run come back to those who wait for its result.
func init() {
	workflow.RegisterError("reprise.flow.ErrUnmet", ErrUnmet)
	workflow.RegisterErrorType[*NodeError]("reprise.flow.NodeError")
	workflow.RegisterErrorType[*TypeError]("reprise.flow.TypeError")
}

// DeclarationError lists everything that is wrong with the declaration of a flow.
type DeclarationError struct {
	Flow     string
	Problems []string
}

func (e *DeclarationError) Error() string {
	return fmt.Sprintf("flow %s cannot run: %s", e.Flow, strings.Join(e.Problems, "; "))
}

// Is makes it an ErrInvalid of the journal.
func (e *DeclarationError) Is(target error) bool { return target == journal.ErrInvalid }

// NodeError is the error of a run that failed because a node did.
type NodeError struct {
	Node  string
	Cause error `json:"-"`
	Text  string
}

func (e *NodeError) Error() string { return "node " + e.Node + ": " + e.Text }

// Unwrap returns the node's own error. It is nil where the error comes from a history; what of the
// cause is registered is found there all the same.
func (e *NodeError) Unwrap() error { return e.Cause }

func nodeError(name string, cause error) *NodeError { return &NodeError{name, cause, cause.Error()} }

// TypeError says that a value is not what a node can work on: null or something else where a list
// is needed, or what does not decode into the type that was asked for. It fails the run, whatever
// the modes of the nodes say, because no other attempt would make another value of it.
type TypeError struct {
	From   string // what the value comes from
	Want   string // what was needed
	Got    string // what it is
	Output string // its JSON, at most 1 KiB; the whole is the output of the step in the run's history
	Why    string // more about it; may be empty
}

func (e *TypeError) Error() string {
	text := fmt.Sprintf("%s gave %s instead of %s", e.From, e.Got, e.Want)
	if e.Output != "" && e.Output != "null" {
		text += ": " + e.Output
	}
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text
}

// outputMax bounds what a TypeError keeps of a value.
const outputMax = 1 << 10

// mistyped is the error of a value that is not what it has to be.
func mistyped(from, want string, data []byte, why error) *TypeError {
	e := &TypeError{From: from, Want: want, Got: jsonKind(data), Output: cut(data, outputMax)}
	if len(data) == 0 {
		e.Got = "a value without a JSON form"
	}
	if syntax := new(json.UnmarshalTypeError); why != nil && !errors.As(why, &syntax) {
		e.Why = why.Error()
	}
	return e
}

// wanted names a type as JSON has it.
func wanted[T any]() string {
	switch t := reflect.TypeFor[T](); t.Kind() {
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	default:
		return "a value of type " + t.String()
	}
}
