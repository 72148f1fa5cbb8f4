package journal_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
)

type price struct {
	Rate float64
	skip chan int
	Note chan int `json:"-"`
}

type line struct {
	price
	Price price
	Next  *line
	More  map[string]any
	List  []price
}

// TestUnencodable: an error of encoding says which field, and is an ErrInvalid.
func TestUnencodable(t *testing.T) {
	nan := price{Rate: math.NaN()}
	ring := &line{}
	ring.Next = ring
	j := journal.New(memory.New(nil), nil)
	for want, v := range map[string]any{
		"field Price.Rate:":      line{Price: nan},
		"field Next.Price.Rate:": &line{Next: &line{Price: nan}},
		"field List[1].Rate:":    line{List: []price{{}, nan}},
		"field More[a][0].Rate:": line{More: map[string]any{"a": []any{nan}}},
		"field More[f]:":         line{More: map[string]any{"f": func() {}}},
		"field [1]:":             []any{1, make(chan int)},
		"chan int":               make(chan int),
		"cycle":                  ring,
	} {
		_, err := j.Encode("input", v)
		if !errors.Is(err, journal.ErrInvalid) || !strings.HasPrefix(err.Error(), "input: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
	if _, err := j.Encode("input", line{price: price{skip: make(chan int), Note: make(chan int)}}); err != nil {
		t.Errorf("what JSON leaves out: %v", err)
	}
}

type (
	locked struct{ n int }
	embeds struct{ locked }
	omits  struct {
		N int `json:",omitempty"`
	}
	marshals struct{ n int }
)

func (marshals) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

// A struct that would be stored as nothing is refused. What is meant to be empty is not.
func TestHiddenFields(t *testing.T) {
	for _, v := range []any{locked{1}, &locked{1}} {
		if _, err := (journal.JSON{}).Encode(v); err == nil || !strings.Contains(err.Error(), "no exported fields") {
			t.Errorf("%T: %v", v, err)
		}
	}
	for _, v := range []any{struct{}{}, embeds{locked{1}}, omits{}, marshals{1}, &marshals{1}, map[string]int{}} {
		if p, err := (journal.JSON{}).Encode(v); err != nil || string(p.Data) != "{}" {
			t.Errorf("%T: %s, %v", v, p.Data, err)
		}
	}
}

// A summary leaves out the type of an error that is nothing but a text.
func TestFailureSummary(t *testing.T) {
	for want, f := range map[string]*journal.Failure{
		"no":                  {Type: "*errors.errorString", Message: "no"},
		"a: no":               {Type: "*fmt.wrapError", Message: "a: no"},
		"*card.Declined: no":  {Type: "*card.Declined", Message: "no"},
		"reprise.Timeout: no": {Type: journal.FailureTimeout, Message: "no"},
	} {
		if got := f.Summary(); got != want {
			t.Errorf("%s: %s, want %s", f.Type, got, want)
		}
	}
}
