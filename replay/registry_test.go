package replay

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/reprise-run/reprise/journal"
)

var (
	errSoldOut = errors.New("sold out")
	errNowhere = errors.New("not registered")
)

// declined is registered, with its details.
type declined struct {
	Code int
	Why  string
	Err  error `json:"-"`
}

func (e *declined) Error() string { return fmt.Sprint("declined: ", e.Code) }
func (e *declined) Unwrap() error { return e.Err }

// busy is registered as a value type.
type busy struct{ Line string }

func (e busy) Error() string { return e.Line + " is busy" }

// secret has details that nobody can store.
type secret struct{ code int }

func (e secret) Error() string { return "secret" }

// stranger is not registered.
type stranger struct{ Code int }

func (e *stranger) Error() string { return "stranger" }

func init() {
	RegisterError("shop.SoldOut", errSoldOut)
	RegisterError("fs.ErrNotExist", fs.ErrNotExist)
	RegisterErrorType[*declined]("card.Declined")
	RegisterErrorType[busy]("phone.Busy")
	RegisterErrorType[secret]("spy.Secret")
	RegisterErrorType[*journal.LimitError]("journal.LimitError")
}

// stored is a failure as a history gives it back.
func stored(t *testing.T, err error) *journal.Failure {
	t.Helper()
	f, failed := journal.DecodeFailure(journal.EncodeFailure(FailureOf(err)))
	if failed != nil {
		t.Fatal(failed)
	}
	return f
}

// TestRegisteredErrors: what is registered comes back from a history, wherever it was in the tree
// of an error and however often it was passed on, and nothing else does.
func TestRegisteredErrors(t *testing.T) {
	card := &declined{Code: 51, Why: "<no money>"}
	for name, tc := range map[string]struct {
		err                          error
		soldOut, missing, card, line bool
		typ                          string
	}{
		"a value":                 {err: errSoldOut, soldOut: true, typ: "*errors.errorString"},
		"a wrapped value":         {err: fmt.Errorf("load: %w", errSoldOut), soldOut: true, typ: "*fmt.wrapError"},
		"a type":                  {err: card, card: true, typ: "*replay.declined"},
		"a wrapped type":          {err: fmt.Errorf("a: %w", fmt.Errorf("b: %w", card)), card: true, typ: "*replay.declined"},
		"a value in a type":       {err: &declined{51, "<no money>", errSoldOut}, card: true, soldOut: true, typ: "*replay.declined"},
		"joined":                  {err: errors.Join(errNowhere, card, errSoldOut), card: true, soldOut: true, typ: "*replay.declined"},
		"two wrapped":             {err: fmt.Errorf("%w and %w", errSoldOut, busy{"7"}), soldOut: true, line: true, typ: "replay.busy"},
		"permanent":               {err: fmt.Errorf("x: %w", Permanent(card)), card: true, typ: "*replay.declined"},
		"what says that it is":    {err: &fs.PathError{Op: "open", Path: "/x", Err: syscall.ENOENT}, missing: true, typ: "*fs.PathError"},
		"not registered":          {err: fmt.Errorf("x: %w", &stranger{1}), typ: "*replay.stranger"},
		"not registered value":    {err: errNowhere, typ: "*errors.errorString"},
		"a wrapper of the engine": {err: fmt.Errorf("x: %w", ErrCancelled), typ: "*fmt.wrapError"},
		"in a step's error":       {err: &StepError{Failure: FailureOf(errors.Join(card, errSoldOut))}, card: true, soldOut: true, typ: "*replay.declined"},
		"in a child's error":      {err: fmt.Errorf("kid: %w", &ChildError{Failure: FailureOf(card)}), card: true, typ: "*replay.declined"},
		"of a child that is apart": {
			err: &ChildError{Failure: &journal.Failure{Type: journal.FailureKeyExists, Cause: FailureOf(card)}}, card: true, typ: "*replay.ChildError",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := stored(t, tc.err)
			again := stored(t, &ChildError{Failure: stored(t, &StepError{Failure: f})})
			for who, err := range map[string]error{"step": &StepError{Failure: f}, "child": &ChildError{Failure: f}, "passed on": &StepError{Failure: again}} {
				if got := errors.Is(err, errSoldOut); got != tc.soldOut {
					t.Errorf("%s: sold out is %v", who, got)
				}
				if got := errors.Is(err, fs.ErrNotExist); got != tc.missing {
					t.Errorf("%s: not exist is %v", who, got)
				}
				d, ok := errors.AsType[*declined](err)
				if ok != tc.card || ok && (d.Code != 51 || d.Why != "<no money>" || d.Err != nil) {
					t.Errorf("%s: declined is %+v, %v", who, d, ok)
				}
				if _, ok := errors.AsType[busy](err); ok != tc.line || errors.Is(err, busy{"7"}) != tc.line {
					t.Errorf("%s: busy is %v", who, ok)
				}
				if _, ok := errors.AsType[*stranger](err); ok || errors.Is(err, errNowhere) {
					t.Errorf("%s: what is not registered came back", who)
				}
			}
			if f.Type != tc.typ {
				t.Errorf("type %s, want %s", f.Type, tc.typ)
			}
		})
	}
}

// TestErrorsOfUndo: compensations that failed are not why a saga ended.
func TestErrorsOfUndo(t *testing.T) {
	f := &journal.Failure{Type: journal.FailureUndo, Cause: FailureOf(errSoldOut), Details: []*journal.Failure{FailureOf(busy{"7"})}}
	if err := (&StepError{Failure: f}); !errors.Is(err, errSoldOut) || errors.Is(err, busy{"7"}) {
		t.Errorf("sold out %v, busy %v", errors.Is(err, errSoldOut), errors.Is(err, busy{"7"}))
	}
}

// TestDetailsThatAreLost: details that cannot be stored are missed aloud, and the error is one that
// is not registered. A history that has details which fit the type no more has no such error
// either.
func TestDetailsThatAreLost(t *testing.T) {
	for want, err := range map[string]error{
		"details of error spy.Secret are not kept: encode replay.secret: it has no exported fields": secret{1},
		"details of error card.Declined are not kept: bytes: 49171 exceeds the limit of 8192":       &declined{Why: strings.Repeat("<", 8<<10)},
	} {
		f := stored(t, err)
		if !strings.Contains(f.Message, want) || f.As != "" || f.Data != nil {
			t.Errorf("stored as %+v, want %q", f, want)
		}
	}
	f := stored(t, &declined{Code: 51})
	f.Data = []byte(`{"Code":"a text"}`)
	if _, ok := errors.AsType[*declined](&StepError{Failure: f}); ok {
		t.Error("details that do not fit came back")
	}
	f.As, f.Is = "card.Unknown", []string{"shop.Unknown"}
	if got := Restored(f); len(got) != 0 {
		t.Errorf("names that are unknown here stand for %v", got)
	}
}

// TestRegisteredErrorsAreBounded: however much fails at once, the run can be closed with it.
func TestRegisteredErrorsAreBounded(t *testing.T) {
	var all []error
	for range 1000 {
		all = append(all, &declined{Why: strings.Repeat("<", detailBytesMax/6-20), Err: errors.New(strings.Repeat("\x01", 10_000))})
	}
	f := FailureOf(errors.Join(all...))
	if len(f.Details) == 0 || f.Details[0].As == "" {
		t.Fatal("the test's errors are too large themselves")
	}
	if p := journal.EncodeFailure(f); len(p.Data) > journal.PayloadBytesMax {
		t.Errorf("%d bytes", len(p.Data))
	}
}

// TestRegisterRefuses: what could not come back, or would come back as something else.
func TestRegisterRefuses(t *testing.T) {
	for want, register := range map[string]func(){
		"the error is nil":                         func() { RegisterError("x", nil) },
		`error "": is empty`:                       func() { RegisterError("", errNowhere) },
		`"cancelled" is the engine's own`:          func() { RegisterError("x", ErrCancelled) },
		`"invalid" is the engine's own`:            func() { RegisterError("x", journal.ErrInvalid) },
		"cannot be compared":                       func() { RegisterError("x", uncomparable{nil}) },
		"another error has the name":               func() { RegisterError("shop.SoldOut", errNowhere) },
		`"card.Declined" cannot be registered: an`: func() { RegisterError("card.Declined", errNowhere) },
		`"shop.SoldOut" cannot be registered: ano`: func() { RegisterErrorType[*stranger]("shop.SoldOut") },
		`"phone.Busy" cannot be registered: anoth`: func() { RegisterErrorType[*stranger]("phone.Busy") },
		`is registered as "card.Declined" already`: func() { RegisterErrorType[*declined]("card.Other") },
		"error is an interface":                    func() { RegisterErrorType[error]("x") },
		"*replay.StepError is the engine's own":    func() { RegisterErrorType[*StepError]("x") },
		"*replay.ContinueError is the engine's":    func() { RegisterErrorType[*ContinueError]("x") },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("panicked with %s, want %q", got, want)
				}
			}()
			register()
		}()
	}
	RegisterError("shop.SoldOut", errSoldOut) // again is nothing
	RegisterErrorType[busy]("phone.Busy")
}

type uncomparable struct{ list []int }

func (u uncomparable) Error() string { return fmt.Sprint("no ", u.list) }

// TestRegisteredAndWrong: an error of a step never means that the code is wrong, whatever is
// registered; one of the code itself does.
func TestRegisteredAndWrong(t *testing.T) {
	limit := &journal.LimitError{What: "x"}
	for _, tc := range []struct {
		err  error
		want bool
	}{
		{nil, false}, {errSoldOut, false}, {limit, true}, {fmt.Errorf("x: %w", limit), true}, {errors.Join(errSoldOut, limit), true},
		{journal.ErrInvalid, true}, {fmt.Errorf("x: %w", &EncodeError{errSoldOut}), true},
		{&StepError{Failure: FailureOf(limit)}, false}, {fmt.Errorf("x: %w", &ChildError{Failure: FailureOf(limit)}), false},
		{errors.Join(&StepError{Failure: FailureOf(limit)}, limit), true},
	} {
		if got := wrongCode(tc.err); got != tc.want {
			t.Errorf("%v is wrong code: %v", tc.err, got)
		}
	}
}
