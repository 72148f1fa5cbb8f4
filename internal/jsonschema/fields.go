package jsonschema

import (
	"fmt"
	"reflect"
	"strings"
)

// fieldsMax bounds the fields of a struct with those of embedded structs, which may embed each
// other in very many ways.
const fieldsMax = 1000

// field is a field of a struct as encoding/json knows it.
type field struct {
	name             string
	typ              reflect.Type
	optional, quoted bool
	depth            int
	tagged           bool
}

// fieldsOf lists the fields of a struct, with those of embedded structs, in their order. Of several
// with one name the least deep counts, and of these the one with a tag; if there are several still,
// none does.
func fieldsOf(t reflect.Type) (list []field, err error) {
	c := collector{inside: map[reflect.Type]bool{}, left: fieldsMax}
	c.collect(t, 0)
	if c.left < 0 {
		return nil, fmt.Errorf("%s has more than %d fields with those of the structs that it embeds", t, fieldsMax)
	}
	all := c.all
	for i := range all {
		if dominates(all, i) {
			list = append(list, all[i])
		}
	}
	return list, nil
}

func dominates(all []field, i int) bool {
	for j := range all {
		if j == i || all[j].name != all[i].name {
			continue
		}
		switch a, b := &all[i], &all[j]; {
		case a.depth > b.depth, a.depth == b.depth && !a.tagged, a.depth == b.depth && b.tagged:
			return false
		}
	}
	return true
}

// collector gathers the fields of a struct. It knows the structs that it is inside of.
type collector struct {
	inside map[reflect.Type]bool
	all    []field
	left   int
}

func (c *collector) collect(t reflect.Type, depth int) {
	if c.inside[t] {
		return
	}
	c.inside[t] = true
	defer delete(c.inside, t)
	for f := range t.Fields() {
		if c.left--; c.left < 0 {
			return
		}
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		elem := f.Type
		if elem.Kind() == reflect.Pointer && elem.Name() == "" {
			elem = elem.Elem()
		}
		switch {
		case tag == "-":
			continue
		case f.Anonymous && elem.Kind() == reflect.Struct && name == "":
			c.collect(elem, depth+1) // also of a type that is not exported
			continue
		case !f.IsExported() && !(f.Anonymous && elem.Kind() == reflect.Struct):
			continue
		}
		one := field{name: name, typ: f.Type, depth: depth, tagged: name != ""}
		if name == "" {
			one.name = f.Name
		}
		for _, o := range strings.Split(options, ",") {
			switch o {
			case "omitempty", "omitzero":
				one.optional = true
			case "string":
				one.quoted = quotable(elem)
			}
		}
		if f.Type.Kind() == reflect.Pointer {
			one.optional = true
		}
		c.all = append(c.all, one)
	}
}

// quotable tells whether the option string means something for a type.
func quotable(t reflect.Type) bool {
	switch k := t.Kind(); {
	case k == reflect.Bool, k == reflect.String, k >= reflect.Int && k <= reflect.Float64:
		return true
	}
	return false
}
