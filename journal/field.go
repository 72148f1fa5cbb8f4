package journal

import (
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
		return fmt.Errorf("encode %T: field %s: %w", v, field, err)
	}
	return fmt.Errorf("encode %T: %w", v, err)
}
