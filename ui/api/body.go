package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"
)

// readBody decodes the body of a request into a new value of the operation's type. Whatever is not
// in that type is refused by name, before anything is done.
func (c *call) readBody(w http.ResponseWriter) (any, error) {
	data, err := io.ReadAll(http.MaxBytesReader(w, c.r.Body, c.h.o.BodyBytesMax))
	if tooMuch, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, refuse(tooLarge, "the body has more than %d bytes", tooMuch.Limit)
	}
	if err != nil {
		return nil, refuse(invalidRequest, "the body ends early: %v", err)
	}
	if c.op.body == nil {
		if len(data) > 0 {
			return nil, refuse(invalidRequest, "%s has no body", c.op.pattern())
		}
		return nil, nil
	}
	if len(data) > 0 {
		if kind, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			return nil, refuse(wrongMedia, "the body has Content-Type %q", c.r.Header.Get("Content-Type"))
		}
	} else {
		data = []byte("{}")
	}
	v := reflect.New(c.op.body)
	if err := decodeStrictly(data, v.Interface(), c.op.body); err != nil {
		return nil, refuse(invalidRequest, "the body: %v", err)
	}
	return v.Interface(), nil
}

// decodeStrictly decodes an object whose fields are exactly those of a type. Package json would
// take a name in other letters as well, and leave a missing field zero.
func decodeStrictly(data []byte, v any, t reflect.Type) error {
	d := json.NewDecoder(bytes.NewReader(data))
	var given map[string]json.RawMessage
	if err := d.Decode(&given); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return fmt.Errorf("it is no object but %s", wrong.Value)
		}
		return fmt.Errorf("at byte %d: %w", d.InputOffset(), err)
	}
	if given == nil {
		return errors.New("it is no object but null")
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("at byte %d: something follows the object", d.InputOffset())
	}
	var known []string
	for _, f := range fieldsOf(t) {
		known = append(known, f.name)
		if _, ok := given[f.name]; !ok && !f.optional {
			return fmt.Errorf("field %q is missing: %s", f.name, f.doc)
		}
	}
	for name := range given {
		if !slices.Contains(known, name) {
			return fmt.Errorf("field %q is unknown: there are %s", name, strings.Join(known, ", "))
		}
	}
	err := json.Unmarshal(data, v)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("field %q is no %s but %s", wrong.Field, typeWord(wrong.Type), wrong.Value)
	}
	return err
}

// typeWord is a type for those who write JSON.
func typeWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "list"
	case reflect.Map, reflect.Struct:
		return "object"
	}
	return "number that fits"
}

// field is a field of a record or of a body.
type field struct {
	name, doc string
	optional  bool
	typ       reflect.Type
}

// fieldsOf lists the fields of a struct, by their tags.
func fieldsOf(t reflect.Type) (list []field) {
	for f := range t.Fields() {
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		list = append(list, field{name: name, doc: f.Tag.Get("doc"), optional: strings.Contains(rest, "omitempty"), typ: f.Type})
	}
	return list
}

// orNull is a value of a body, null if it is absent.
func orNull(v json.RawMessage) json.RawMessage {
	if len(v) == 0 {
		return json.RawMessage("null")
	}
	return v
}
