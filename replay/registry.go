package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/reprise-run/reprise/journal"
)

// registry has the errors of the user's that come back from histories. FailureOf asks it what an
// error is when it is stored, Restored what a stored failure stands for.
//
// A failure is restored by the names that it was stored with, and not by what it would be called
// today: so code sees the same error when it lives and when it is replayed, as long as what was
// registered stays registered. Names are durable, like those of workflows.
//
// It is one for the whole process, as types are, and is read while programs still fill it: writers
// exchange a copy, readers take what is there.
type registry struct {
	values map[string]error
	types  map[string]errorType
	names  map[reflect.Type]string // of types
}

// errorType is a registered type.
type errorType struct {
	typ    reflect.Type
	decode func(data []byte) (error, error)
}

var registered atomic.Pointer[registry]

func init() { registered.Store(&registry{}) }

// RegisterError registers an error value. It panics with what is wrong.
func RegisterError(name string, err error) {
	register(func(r *registry) string {
		switch have, taken := r.values[name]; {
		case err == nil:
			return "the error is nil"
		case !reflect.ValueOf(err).Comparable():
			return fmt.Sprintf("%T cannot be compared, so errors.Is would not find it; register its type", err)
		case own(err):
			return fmt.Sprintf("%q is the engine's own", err)
		case taken && have != err, r.types[name].typ != nil:
			return "another error has the name"
		}
		r.values[name] = err
		return ""
	}, name)
}

// RegisterErrorType registers a type of errors. It panics with what is wrong.
func RegisterErrorType[E error](name string) {
	t := reflect.TypeFor[E]()
	register(func(r *registry) string {
		have, taken := r.types[name]
		_, isValue := r.values[name]
		switch other := r.names[t]; {
		case t.Kind() == reflect.Interface:
			return fmt.Sprintf("%v is an interface; register the types that it stands for", t)
		case t.Implements(reflect.TypeFor[interface{ JournalFailure() *journal.Failure }]()), t == reflect.TypeFor[*ContinueError]():
			return fmt.Sprintf("%v is the engine's own, or brings its own form", t)
		case taken && have.typ != t, isValue:
			return "another error has the name"
		case other != "" && other != name:
			return fmt.Sprintf("%v is registered as %q already", t, other)
		}
		r.types[name] = errorType{t, func(data []byte) (error, error) {
			var e E
			err := json.Unmarshal(data, &e)
			return e, err
		}}
		r.names[t] = name
		return ""
	}, name)
}

// register changes a copy of the registry, which takes its place. change returns why it refuses.
func register(change func(r *registry) string, name string) {
	if err := journal.CheckName("error", name); err != nil {
		panic("workflow: " + err.Error())
	}
	for {
		old := registered.Load()
		r := &registry{clone(old.values), clone(old.types), clone(old.names)}
		if why := change(r); why != "" {
			panic(fmt.Sprintf("workflow: error %q cannot be registered: %s", name, why))
		}
		if registered.CompareAndSwap(old, r) {
			return
		}
	}
}

func clone[K comparable, V any](m map[K]V) map[K]V {
	c := make(map[K]V, len(m)+1)
	for k, v := range m {
		c[k] = v
	}
	return c
}

// own tells whether an error has a meaning to the engine, which a stored error must not get.
func own(err error) bool {
	for _, table := range []map[string]error{passing, childOnly, signalOnly} {
		for _, e := range table {
			if e == err {
				return true
			}
		}
	}
	return err == journal.ErrInvalid
}

// describe says in a failure what the registry knows of one error, causes apart. An error of a
// registered type whose details cannot be stored is one that is not registered, and says so.
func (r *registry) describe(f *journal.Failure, err error) {
	f.Is = r.matches(err)
	name, ok := r.names[reflect.TypeOf(err)]
	if !ok {
		return
	}
	data, failed := r.types[name].encode(err)
	if failed != nil {
		f.Message += fmt.Sprintf(" (the details of error %s are not kept: %v)", name, failed)
		return
	}
	f.As, f.Data = name, data
}

// encode returns the form in which a failure keeps an error, from which it can be decoded again.
func (t errorType) encode(err error) ([]byte, error) {
	p, failed := journal.JSON{}.Encode(err)
	if failed != nil {
		return nil, failed
	}
	var data bytes.Buffer
	json.HTMLEscape(&data, p.Data) // as the failure will be
	if data.Len() > detailBytesMax {
		return nil, &journal.LimitError{What: "bytes", Size: data.Len(), Max: detailBytesMax}
	}
	_, failed = t.decode(data.Bytes())
	return data.Bytes(), failed
}

// matches returns the names of the values that an error is, or says that it is, in order.
func (r *registry) matches(err error) (names []string) {
	is, says := err.(interface{ Is(error) bool })
	comparable := reflect.ValueOf(err).Comparable()
	for name, value := range r.values {
		if comparable && err == value || says && is.Is(value) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names[:min(len(names), matchesMax)]
}

// Restored returns the registered errors that a stored failure and its causes stand for, the
// outermost first: see workflow.RegisterError. Compensations that failed are none of them: they are
// not why a saga ended.
func Restored(f *journal.Failure) (list []error) {
	r := registered.Load()
	for ; f != nil; f = f.Cause {
		if t, ok := r.types[f.As]; ok {
			if err, failed := t.decode(f.Data); failed == nil {
				list = append(list, err)
			}
		}
		for _, name := range f.Is {
			if err, ok := r.values[name]; ok {
				list = append(list, err)
			}
		}
		if f.Type == journal.FailureUndo {
			continue
		}
		for _, joined := range f.Details {
			list = append(list, Restored(joined)...)
		}
	}
	return list
}
