package jsonschema

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

type own struct{ Hidden int }

func (*own) UnmarshalJSON([]byte) error  { return nil }
func (own) MarshalJSON() ([]byte, error) { return []byte("[]"), nil }

type word int

func (word) MarshalText() ([]byte, error) { return []byte("w"), nil }

type base struct {
	ID     string `json:"id"`
	Shadow int    `json:"shadow"`
}

type tree struct {
	Value int     `json:"value"`
	Left  *tree   `json:"left,omitempty"`
	All   []*tree `json:"all,omitempty"`
}

type order struct {
	base
	*tree     `json:"tree"`
	Item      string
	Count     uint8             `json:"count,omitempty"`
	Price     float64           `json:"price,string"`
	At        time.Time         `json:"at,omitzero"`
	Wait      time.Duration     `json:"wait"`
	Note      *string           `json:"note"`
	Data      []byte            `json:"data"`
	Pair      [2]bool           `json:"pair"`
	Labels    map[string]int    `json:"labels"`
	ByWord    map[word][]string `json:"by_word"`
	Any       any               `json:"any"`
	Raw       json.RawMessage   `json:"raw"`
	Own       own               `json:"own"`
	Word      word              `json:"word"`
	Number    json.Number       `json:"number"`
	Shadow    string            `json:"shadow"`
	Left_     string            `json:"-"`
	unwritten int
}

// TestOf: types are described as encoding/json writes them.
func TestOf(t *testing.T) {
	t.Parallel()
	text, err := Of(reflect.TypeFor[order](), 10_000)
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Schema     string `json:"$schema"`
		Title      string
		Type       string
		Properties map[string]json.RawMessage
		Required   []string
		Order      []string `json:"x-order"`
	}
	if err := json.Unmarshal(text, &s); err != nil || s.Schema != Draft || s.Title != "order" || s.Type != "object" {
		t.Fatalf("%v: %s", err, text)
	}
	for name, want := range map[string]string{
		"id": `{"type":"string"}`, "shadow": `{"type":"string"}`, "Item": `{"type":"string"}`, "count": `{"minimum":0,"type":"integer"}`, "price": `{"type":"string"}`,
		"at": `{"format":"date-time","type":"string"}`, "wait": `{"description":"nanoseconds","type":"integer"}`, "note": `{"type":["string","null"]}`,
		"data": `{"contentEncoding":"base64","type":"string"}`, "pair": `{"items":{"type":"boolean"},"maxItems":2,"minItems":2,"type":"array"}`,
		"labels": `{"additionalProperties":{"type":"integer"},"type":"object"}`, "by_word": `{"additionalProperties":{"items":{"type":"string"},"type":"array"},"type":"object"}`,
		"any": `{}`, "raw": `{}`, "own": `{}`, "word": `{"type":"string"}`, "number": `{"type":"number"}`,
		// What is inside itself is any value.
		"tree": `{"properties":{"all":{"items":{},"type":"array"},"left":{},"value":{"type":"integer"}},"required":["value"],"title":"tree","type":["object","null"],"x-order":["value","left","all"]}`,
	} {
		got := string(s.Properties[name])
		if got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	// What it says is what a value of the type has.
	written, err := json.Marshal(order{tree: &tree{}, Count: 1, At: time.Now(), Number: "1", unwritten: 1})
	var fields map[string]any
	if err == nil {
		err = json.Unmarshal(written, &fields)
	}
	if err != nil || len(fields) != len(s.Properties) {
		t.Errorf("%v: a value is %s, the schema has %d fields", err, written, len(s.Properties))
	}
	if got := strings.Join(s.Required, " "); got != "id Item price wait data pair labels by_word any raw own word number shadow" {
		t.Errorf("required are %s", got)
	}
	if got := strings.Join(s.Order, " "); got != "id tree Item count price at wait note data pair labels by_word any raw own word number shadow" {
		t.Errorf("the order is %s", got)
	}
}

// TestOfSimple: what is no struct has a schema too, and what has no JSON has none.
func TestOfSimple(t *testing.T) {
	t.Parallel()
	for typ, want := range map[reflect.Type]string{
		reflect.TypeFor[string]():    `{"$schema":"` + Draft + `","type":"string"}`,
		reflect.TypeFor[[]int]():     `{"$schema":"` + Draft + `","items":{"type":"integer"},"type":"array"}`,
		reflect.TypeFor[struct{}]():  `{"$schema":"` + Draft + `","properties":{},"type":"object"}`,
		reflect.TypeFor[any]():       `{"$schema":"` + Draft + `"}`,
		reflect.TypeFor[*[]string](): `{"$schema":"` + Draft + `","items":{"type":"string"},"type":["array","null"]}`,
	} {
		if got, err := Of(typ, len(want)); err != nil || string(got) != want {
			t.Errorf("%s is %s, %v, want %s", typ, got, err, want)
		}
	}
	type list []list
	if _, err := Of(reflect.TypeFor[list](), 1_000); err != nil {
		t.Errorf("a list of itself: %v", err)
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[chan int](), reflect.TypeFor[struct{ F func() }](), reflect.TypeFor[map[bool]int](), reflect.TypeFor[[]complex64]()} {
		if got, err := Of(typ, 1_000); err == nil {
			t.Errorf("%s is %s", typ, got)
		}
	}
	if _, err := Of(reflect.TypeFor[order](), 100); err == nil || !strings.Contains(err.Error(), "more bytes than are kept") {
		t.Errorf("a schema that is too large: %v", err)
	}
}

// TestFieldsThatHideEachOther: of several fields with one name encoding/json writes the one that it
// finds, or none.
func TestFieldsThatHideEachOther(t *testing.T) {
	t.Parallel()
	type A struct {
		X, Y int
		V    int `json:"V"`
	}
	type B struct {
		X int
		Z int `json:"Y"`
		W int `json:"V"`
	}
	both := reflect.StructOf([]reflect.StructField{ // as code the repeated V would be refused by vet
		{Name: "A", Type: reflect.TypeFor[A](), Anonymous: true}, {Name: "B", Type: reflect.TypeFor[B](), Anonymous: true}})
	schema, err := Of(both, 1_000)
	text, _ := json.Marshal(reflect.Zero(both).Interface())
	if err != nil || string(text) != `{"Y":0}` || !strings.Contains(string(schema), `"properties":{"Y":{"type":"integer"}}`) {
		t.Errorf("%s has the schema %s, %v", text, schema, err)
	}
}

// Types that contain each other, in every way that there is.
type (
	star struct{ A, B, C, D, E, F, G, H *beam }
	beam struct {
		S *star
		A *ray[int8]
		B *ray[int16]
		C *ray[int32]
		D *ray[int64]
		E *ray[uint8]
		F *ray[uint16]
		G *ray[uint32]
		H *ray[uint64]
	}
	ray[T any] struct {
		A *ray[int8]
		B *ray[int16]
		C *ray[int32]
		D *ray[int64]
		E *ray[uint8]
		F *ray[uint16]
		G *ray[uint32]
		H *ray[uint64]
		V T
	}
)

// TestOfEnds: a type that would be described for hours has no schema, and says so at once.
func TestOfEnds(t *testing.T) {
	t.Parallel()
	if got, err := Of(reflect.TypeFor[star](), 4<<10); !errors.Is(err, errLarge) {
		t.Errorf("%.100s, %v", got, err)
	}
	deep := reflect.TypeFor[struct{ X int }]()
	for range 11 {
		deep = reflect.StructOf([]reflect.StructField{{Name: "A", Type: deep, Anonymous: true}, {Name: "B", Type: deep, Anonymous: true}})
	}
	if got, err := Of(deep, 4<<10); err == nil || !strings.Contains(err.Error(), "more than 1000 fields") {
		t.Errorf("%.100s, %v", got, err)
	}
}
