package journal

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// fieldDepthMax bounds how deep badField looks: values may contain themselves.
const fieldDepthMax = 32

// badField returns the part of a value that JSON cannot hold, as a path such as "Lines[2].Price";
// empty if that is the value itself. It encodes each part anew, which is for errors only.
func badField(v reflect.Value, depth int) string {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if depth == fieldDepthMax || !v.IsValid() || v.Type().Implements(reflect.TypeFor[json.Marshaler]()) {
		return ""
	}
	for name, part := range parts(v) {
		if _, err := json.Marshal(part.Interface()); err != nil {
			return name + badField(part, depth+1)
		}
	}
	return ""
}

// parts yields what a value is made of, each with its part of a path. Only what JSON would encode
// is yielded.
func parts(v reflect.Value) func(yield func(string, reflect.Value) bool) {
	return func(yield func(string, reflect.Value) bool) {
		switch v.Kind() {
		case reflect.Struct:
			for f, part := range v.Fields() {
				if f.IsExported() && f.Tag.Get("json") != "-" && !yield("."+f.Name, part) {
					return
				}
			}
		case reflect.Map:
			for key, part := range v.Seq2() {
				if !yield(fmt.Sprintf("[%v]", key), part) {
					return
				}
			}
		case reflect.Slice, reflect.Array:
			for i := range v.Len() {
				if !yield(fmt.Sprintf("[%d]", i), v.Index(i)) {
					return
				}
			}
		}
	}
}

// unencodable is the error of a value that JSON cannot hold: it names the field.
func unencodable(v any, err error) error {
	if field := strings.TrimPrefix(badField(reflect.ValueOf(v), 0), "."); field != "" {
		return fmt.Errorf("encode %T: field %s: %w; leave the field out with the tag json:\"-\", or change its type", v, field, err)
	}
	return fmt.Errorf("encode %T: %w; use a type that JSON can hold", v, err)
}

// hidden tells whether JSON wrote {} for a struct that has fields and exports none: all of it would
// be lost without a word.
func hidden(v any) bool {
	t := reflect.TypeOf(v)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.NumField() == 0 || marshals(t) {
		return false
	}
	for f := range t.Fields() {
		if f.IsExported() || f.Anonymous {
			return false
		}
	}
	return true
}

// marshals tells whether a type, or a pointer to it, has its own form in JSON.
func marshals(t reflect.Type) bool {
	for _, m := range []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()} {
		if t.Implements(m) || reflect.PointerTo(t).Implements(m) {
			return true
		}
	}
	return false
}
