// Package jsonschema describes Go types as JSON Schema (2020-12), by the rules of encoding/json:
// what a value of the type looks like as JSON. It is for forms.
//
// It is our own because the libraries describe a type that has its own MarshalJSON by its fields,
// which are not its JSON, and give up on a type that contains itself. Here the first is any value,
// and so is a type inside itself.
package jsonschema

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// Draft is what the schemas are written in.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// Order is the keyword that lists the fields of a struct in their order, if some of them may be
// absent: required lists them else. An object of JSON has no order, and jsonb keeps none.
const Order = "x-order"

// depthMax bounds how far types are described that are inside others; what is deeper is any value.
const depthMax = 12

// Of returns the schema of a type, of at most so many bytes. An error says why there is none.
func Of(t reflect.Type, bytesMax int) (json.RawMessage, error) {
	d := describer{left: bytesMax}
	schema, err := d.of(t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t, err)
	}
	schema["$schema"] = Draft
	text, err := json.Marshal(schema)
	if err == nil && len(text) > bytesMax {
		err = fmt.Errorf("%w: %d of at most %d", errLarge, len(text), bytesMax)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t, err)
	}
	return text, nil
}

type object = map[string]any

// describer knows the types that it is inside of, and what of its bytes is left. Types that contain
// each other have as many ways through them as there are orders of them: a dozen small types would
// be described for hours, so what cannot fit ends the description instead of being measured after
// it.
type describer struct {
	inside []reflect.Type
	left   int
}

// errLarge ends a description that cannot fit.
var errLarge = errors.New("its schema has more bytes than are kept")

var (
	marshaler = reflect.TypeFor[json.Marshaler]()
	texter    = reflect.TypeFor[encoding.TextMarshaler]()
)

func (d *describer) of(t reflect.Type) (object, error) {
	if d.left -= len("{}"); d.left < 0 { // the least that a type takes; a pointer is its element's
		return nil, errLarge
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}, nil
	case t == reflect.TypeFor[time.Duration]():
		return object{"type": "integer", "description": "nanoseconds"}, nil
	case t == reflect.TypeFor[json.Number]():
		return object{"type": "number"}, nil
	case t.Kind() != reflect.Pointer && has(t, marshaler):
		return object{}, nil
	case t.Kind() != reflect.Pointer && has(t, texter):
		return object{"type": "string"}, nil
	case slices.Contains(d.inside, t), len(d.inside) >= depthMax:
		return object{}, nil
	}
	d.inside = append(d.inside, t)
	defer func() { d.inside = d.inside[:len(d.inside)-1] }()
	switch t.Kind() {
	case reflect.Pointer:
		return d.pointer(t)
	case reflect.Slice, reflect.Array:
		return d.list(t)
	case reflect.Map:
		return d.mapping(t)
	case reflect.Struct:
		return d.record(t)
	}
	return simple(t)
}

// has tells whether values of a type, or their addresses, have the methods of an interface.
func has(t, methods reflect.Type) bool {
	return t.Kind() != reflect.Interface && (t.Implements(methods) || reflect.PointerTo(t).Implements(methods))
}

func simple(t reflect.Type) (object, error) {
	switch t.Kind() {
	case reflect.Bool:
		return object{"type": "boolean"}, nil
	case reflect.String:
		return object{"type": "string"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return object{"type": "integer"}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return object{"type": "integer", "minimum": 0}, nil
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}, nil
	case reflect.Interface:
		return object{}, nil
	}
	return nil, fmt.Errorf("%s has no JSON", t)
}

// pointer is what the pointer leads to, or null.
func (d *describer) pointer(t reflect.Type) (object, error) {
	d.left += len("{}")
	schema, err := d.of(t.Elem())
	if kind, ok := schema["type"].(string); ok && err == nil {
		schema["type"] = []string{kind, "null"}
	}
	return schema, err
}

func (d *describer) list(t reflect.Type) (object, error) {
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && !has(t.Elem(), marshaler) && !has(t.Elem(), texter) {
		return object{"type": "string", "contentEncoding": "base64"}, nil
	}
	items, err := d.of(t.Elem())
	schema := object{"type": "array", "items": items}
	if t.Kind() == reflect.Array {
		schema["minItems"], schema["maxItems"] = t.Len(), t.Len()
	}
	return schema, err
}

func (d *describer) mapping(t reflect.Type) (object, error) {
	switch key := t.Key(); {
	case has(key, texter), key.Kind() == reflect.String:
	case key.Kind() >= reflect.Int && key.Kind() <= reflect.Uintptr:
	default:
		return nil, fmt.Errorf("%s has no JSON: its keys are no texts", t)
	}
	values, err := d.of(t.Elem())
	return object{"type": "object", "additionalProperties": values}, err
}

func (d *describer) record(t reflect.Type) (object, error) {
	properties, required, names := object{}, []string{}, []string{}
	fields, err := fieldsOf(t)
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		schema, err := d.of(f.typ)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.name, err)
		}
		if f.quoted {
			schema = object{"type": "string"}
		}
		properties[f.name] = schema
		names = append(names, f.name)
		if !f.optional {
			required = append(required, f.name)
		}
	}
	schema := object{"type": "object", "properties": properties}
	if t.Name() != "" {
		schema["title"] = t.Name()
	}
	if len(required) > 0 {
		schema["required"] = required
	}
	if len(names) > 1 && len(required) < len(names) { // else required says it
		schema[Order] = names
	}
	return schema, nil
}
