package journal_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
)

type loose struct {
	ID   int64
	More map[string][]any
	Next *loose
}

// ownJSON keeps what it reads as it is.
type ownJSON struct{ V any }

func (o *ownJSON) UnmarshalJSON(b []byte) error { o.V = json.Number(b); return nil }
func (o ownJSON) MarshalJSON() ([]byte, error)  { return []byte(o.V.(json.Number)), nil }

type ownField struct {
	More any
	V    ownJSON
}

// TestDigitsAreKeptOrRefused: an integer that any would hold as another one is refused when it is
// encoded and when it is decoded, with its place; whatever comes back as it was passes.
func TestDigitsAreKeptOrRefused(t *testing.T) {
	const large = int64(1)<<53 + 1
	in := func(v any) any { return &loose{ID: large, Next: &loose{More: map[string][]any{"a": {1, v}}}} }
	for name, v := range map[string]any{
		"an int64": in(large), "a negative one": in(-large), "the largest": in(int64(math.MaxInt64)), "a uint64": in(uint64(math.MaxUint64)),
		"in a struct": in(struct{ N int64 }{large}), "in a map": in(map[string]int64{"n": large}),
		"a json.Number": in(json.Number("12345678901234567891")), "a big.Int": in(new(big.Int).Lsh(big.NewInt(3), 100).Add(big.NewInt(1), big.NewInt(1<<60+1))),
	} {
		_, err := journal.JSON{}.Encode(v)
		if !errors.Is(err, journal.ErrInvalid) || !strings.Contains(err.Error(), ".Next.More.a[1]") {
			t.Errorf("%s is encoded: %v", name, err)
		}
		data, _ := json.Marshal(v)
		if err := (journal.JSON{}).Decode(journal.Payload{Data: data}, new(loose)); !errors.Is(err, journal.ErrInvalid) || !strings.Contains(err.Error(), ".Next.More.a[1]") {
			t.Errorf("%s is decoded: %v", name, err)
		}
	}
	for name, v := range map[string]any{
		"exact": in(int64(1) << 60), "a float64": in(123456789012345678901.0), "a huge one": in(1e300), "a fraction": in(0.1),
		"a long fraction": in(1.2345678901234567), "digits in a text": in("12345678901234567891"), "a time": in(time.Now()), "nil": in(nil),
		"a type of its own": &ownField{V: ownJSON{json.Number("12345678901234567891")}},
	} {
		p, err := journal.JSON{}.Encode(v)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := (journal.JSON{}).Decode(p, reflect.New(reflect.TypeOf(v).Elem()).Interface()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var typed struct {
		N int64
		J json.Number
		P *uint64
	}
	if err := (journal.JSON{}).Decode(journal.Payload{Data: []byte(`{"N":9007199254740993,"J":12345678901234567891,"P":18446744073709551615}`)}, &typed); err != nil ||
		typed.N != large || typed.J != "12345678901234567891" || *typed.P != math.MaxUint64 {
		t.Errorf("typed numbers: %+v, %v", typed, err)
	}
	var free any
	if err := (journal.JSON{}).Decode(journal.Payload{Data: []byte("9007199254740993")}, &free); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("a number alone: %v, %v", free, err)
	}
}
