package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// JSON has one kind of numbers, and a field of type any has no type to read one into: package json
// makes it a float64, which has 53 bits. An int64 that was written there in full would come back as
// another number, without a word. So such a number is refused: when a value is decoded, and before
// that when it is encoded, as far as the type that it has then tells.

// digitsMin is how many digits an integer has at least that a float64 may not have exactly: 2^53
// has 16.
const digitsMin = 16

// digitsError is a number that any does not hold exactly.
type digitsError struct{ path, number string }

func (e *digitsError) Error() string {
	return fmt.Sprintf("number %s at %q loses digits in a value of type any: give it a type, such as int64 or json.Number",
		e.number, e.path)
}

// Is makes a digitsError an ErrInvalid.
func (e *digitsError) Is(target error) bool { return target == ErrInvalid }

// checkDigits tells whether data, decoded into a value of v's type, has an integer that any does
// not hold exactly. Types without an interface in them, and data without long numbers, are done
// with at once, before data is looked at. data that does not decode has none: that is somebody
// else's error.
func checkDigits(data []byte, v any) error {
	t := reflect.TypeOf(v)
	if t == nil || !hasInterface(t) || !longNumber(data) {
		return nil
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	exact := reflect.New(t)
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if d.Decode(exact.Interface()) != nil {
		return nil
	}
	return inexact(exact.Elem(), "")
}

// longNumber tells whether data has a row of digits that may be such a number.
func longNumber(data []byte) bool {
	row := 0
	for _, c := range data {
		if row++; c < '0' || c > '9' {
			row = 0
		} else if row == digitsMin {
			return true
		}
	}
	return false
}

// inexact looks for a json.Number in an interface: that is where any stands in the type.
func inexact(v reflect.Value, path string) error {
	if !v.IsValid() || v.Kind() != reflect.Interface && decodesItself(v.Type()) {
		return nil // nothing, or its own matter
	}
	switch v.Kind() {
	case reflect.Interface:
		if n, ok := v.Interface().(json.Number); ok {
			if !exactAsFloat(n.String()) {
				return &digitsError{path, n.String()}
			}
			return nil
		}
		return inexact(v.Elem(), path)
	case reflect.Pointer:
		return inexact(v.Elem(), path)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				if err := inexact(v.Field(i), path+"."+f.Name); err != nil {
					return err
				}
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			if err := inexact(v.MapIndex(k), path+"."+fmt.Sprint(k)); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := inexact(v.Index(i), path+"["+strconv.Itoa(i)+"]"); err != nil {
				return err
			}
		}
	}
	return nil
}

// exactAsFloat tells whether a number is no integer, or one that a float64 has exactly. What has a
// fraction or an exponent was a float64 before, and so was what a float64 is written as, whose last
// digits are zeros that stand for others.
func exactAsFloat(number string) bool {
	if len(number) < digitsMin || strings.ContainsAny(number, ".eE") {
		return true
	}
	want, ok := new(big.Int).SetString(number, 10)
	f, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil {
		return false
	}
	got, _ := new(big.Float).SetFloat64(f).Int(nil)
	return got.Cmp(want) == 0 || strconv.FormatFloat(f, 'f', -1, 64) == number
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// decodesItself tells whether a type has its own way to be decoded, which may keep all digits.
func decodesItself(t reflect.Type) bool {
	return t.Implements(unmarshaler) || t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(unmarshaler)
}

// interfaces remembers which types have an interface in them.
var interfaces sync.Map // reflect.Type to bool

// hasInterface tells whether a value of the type may hold what any holds.
func hasInterface(t reflect.Type) bool {
	if known, ok := interfaces.Load(t); ok {
		return known.(bool)
	}
	has := lookForInterface(t, map[reflect.Type]bool{})
	interfaces.Store(t, has)
	return has
}

func lookForInterface(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch kind := t.Kind(); {
	case kind == reflect.Interface:
		return true
	case decodesItself(t):
		return false
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return lookForInterface(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if lookForInterface(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}
