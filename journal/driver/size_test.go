package driver_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A field that somebody adds to a commit, a start or a message, and that can carry a payload, is
// counted: the test finds payloads by reflection and fills them one at a time. Drivers cut batches
// by these sums alone.
func TestSizeCountsEveryPayload(t *testing.T) {
	const size = 1000
	for path, c := range withOnePayload[driver.Commit](size) {
		if n := driver.CommitBytes(c); n < size {
			t.Errorf("CommitBytes of a commit with %d bytes in %s: %d", size, path, n)
		}
	}
	for path, st := range withOnePayload[journal.Start](size) {
		if n := driver.StartBytes(st); n < size {
			t.Errorf("StartBytes of a start with %d bytes in %s: %d", size, path, n)
		}
	}
	for path, m := range withOnePayload[journal.Message](size) {
		if n := driver.MessageBytes(m); n < size {
			t.Errorf("MessageBytes of a message with %d bytes in %s: %d", size, path, n)
		}
	}
}

// The search itself finds what two drivers once counted differently.
func TestSizeFindsPayloads(t *testing.T) {
	found := withOnePayload[driver.Commit](1)
	for _, path := range []string{"Commit.Continue.Input", "Commit.Starts.Message.Payload", "Commit.Starts.Input",
		"Commit.Events.Payload", "Commit.Messages.Payload", "Commit.Replies.Payload", "Commit.Attempts.Heartbeat"} {
		if found[path] == nil {
			t.Errorf("no commit has a payload in %s", path)
		}
	}
}

// Texts without a limit of their own are counted too.
func TestSizeCountsTexts(t *testing.T) {
	text := string(make([]byte, 1000))
	cause := &journal.Failure{Message: text}
	for name, c := range map[string]*driver.Commit{
		"a recorded value":  {Events: []journal.Event{{Issued: []journal.Issued{{Detail: text}}}}},
		"a failure":         {Attempts: []journal.Attempt{{Failure: &journal.Failure{Message: text}}}},
		"a stack":           {Attempts: []journal.Attempt{{Failure: &journal.Failure{Stack: text}}}},
		"a cause":           {Attempts: []journal.Attempt{{Failure: &journal.Failure{Cause: cause}}}},
		"a detail":          {Attempts: []journal.Attempt{{Failure: &journal.Failure{Details: []*journal.Failure{cause}}}}},
		"details":           {Attempts: []journal.Attempt{{Failure: &journal.Failure{Data: []byte(text)}}}},
		"a problem":         {Next: driver.Next{Problem: text}},
		"why it pauses":     {Pause: text},
		"what it waits for": {Waiting: []string{text}},
	} {
		if n := driver.CommitBytes(c); n != len(text) {
			t.Errorf("CommitBytes of a commit with %d bytes in %s: %d", len(text), name, n)
		}
	}
}

// withOnePayload returns a T for each payload that one can hold, by the payload's path. No other is
// filled.
func withOnePayload[T any](size int) map[string]*T {
	list := map[string]*T{}
	typ := reflect.TypeFor[T]()
	for _, path := range payloadPaths(typ) {
		v := new(T)
		at, name := reflect.ValueOf(v).Elem(), typ.Name()
		for _, i := range path {
			name += "." + at.Type().Field(i).Name
			at = inside(at.Field(i))
		}
		at.Set(reflect.ValueOf(journal.Payload{Data: make([]byte, size)}))
		list[name] = v
	}
	return list
}

// payloadPaths finds the fields of a struct that lead to a payload, directly, by pointer or as the
// elements of a list.
func payloadPaths(t reflect.Type) (paths [][]int) {
	for i := range t.NumField() {
		f := t.Field(i).Type
		for f.Kind() == reflect.Pointer || f.Kind() == reflect.Slice {
			f = f.Elem()
		}
		switch {
		case f == reflect.TypeFor[journal.Payload]():
			paths = append(paths, []int{i})
		case f == reflect.TypeFor[journal.Failure](): // holds itself, and no payload
		case f.Kind() == reflect.Struct && strings.HasPrefix(f.PkgPath(), reflect.TypeFor[journal.Payload]().PkgPath()):
			for _, p := range payloadPaths(f) {
				paths = append(paths, append([]int{i}, p...))
			}
		}
	}
	return paths
}

// inside makes a pointer point somewhere, or a list hold one element, and returns what is there.
func inside(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return inside(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return inside(v.Index(0))
	case reflect.Struct:
		return v
	}
	panic(fmt.Sprintf("no payload inside a %s", v.Type()))
}
