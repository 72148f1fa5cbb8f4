package journal_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
)

func TestJSONKeepsTextAsItWasWritten(t *testing.T) {
	type value struct{ S string }
	p, err := journal.JSON{}.Encode(value{"<a> & \u2028 \x00 🙂"})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"S":"<a> & \u2028 \u0000 🙂"}`; string(p.Data) != want || p.Encoding != journal.EncodingJSON {
		t.Errorf("encoded as %q in %q", p.Data, p.Encoding)
	}
	var got value
	if err := (journal.JSON{}).Decode(p, &got); err != nil || got.S != "<a> & \u2028 \x00 🙂" {
		t.Errorf("decoded %+v, %v", got, err)
	}
}

func TestJSONRefuses(t *testing.T) {
	if _, err := (journal.JSON{}).Encode(make(chan int)); err == nil || !strings.Contains(err.Error(), "chan int") {
		t.Errorf("a channel: %v", err)
	}
	var n int
	for name, p := range map[string]journal.Payload{
		"another encoding": {Encoding: "gzip", Data: []byte("1")}, "no JSON": {Data: []byte("{")}, "another type": {Data: []byte(`"x"`)},
	} {
		if err := (journal.JSON{}).Decode(p, &n); err == nil {
			t.Errorf("%s was decoded", name)
		}
	}
	n = 7
	if err := (journal.JSON{}).Decode(journal.Payload{}, &n); err != nil || n != 7 {
		t.Errorf("an empty payload: %d, %v", n, err)
	}
}

func TestFailureSurvives(t *testing.T) {
	want := &journal.Failure{
		Type: "*pkg.Error", Message: "no\x00 <way> 🙂", Permanent: true, RetryIn: 90 * time.Second, Stack: "goroutine 1",
		Cause:   &journal.Failure{Type: "c", Message: "cause"},
		Details: []*journal.Failure{{Type: journal.FailureUndo, Message: "first"}, {Type: journal.FailureUndo, Message: "second"}},
	}
	got, err := journal.DecodeFailure(journal.EncodeFailure(want))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestEveryFailureCanBeStored: whatever an error says, its failure is valid, bounded text.
func TestEveryFailureCanBeStored(t *testing.T) {
	deep := &journal.Failure{Type: "t", Message: "bottom"}
	for i := range 1000 {
		deep = &journal.Failure{Type: "t", Message: fmt.Sprint(i), Cause: deep}
	}
	huge := strings.Repeat("ü", 1<<20)
	for name, f := range map[string]*journal.Failure{
		"huge":      {Type: huge, Message: huge, Stack: huge},
		"not UTF-8": {Type: "t\xff", Message: "m\xff\xfe", Stack: "\xc3"},
		"deep":      deep,
		"empty":     {},
	} {
		p := journal.EncodeFailure(f)
		if len(p.Data) > 64<<10 || !utf8.Valid(p.Data) || p.Encoding != journal.EncodingFailure {
			t.Errorf("%s: %d bytes in %q", name, len(p.Data), p.Encoding)
		}
		got, err := journal.DecodeFailure(p)
		if err != nil || !utf8.ValidString(got.Message) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDecodeFailureRefuses(t *testing.T) {
	if _, err := journal.DecodeFailure(journal.Payload{Data: []byte("{}")}); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("another encoding: %v", err)
	}
	if _, err := journal.DecodeFailure(journal.Payload{Encoding: journal.EncodingFailure, Data: []byte("{")}); err == nil {
		t.Error("broken JSON was decoded")
	}
}

func FuzzFailureRoundTrip(f *testing.F) {
	f.Add("type", "message", "stack", int64(5), true)
	f.Fuzz(func(t *testing.T, kind, message, stack string, retry int64, permanent bool) {
		want := &journal.Failure{Type: kind, Message: message, Stack: stack, RetryIn: time.Duration(retry), Permanent: permanent}
		p := journal.EncodeFailure(want)
		got, err := journal.DecodeFailure(p)
		if err != nil {
			t.Fatal(err)
		}
		short := len(kind) <= journal.NameBytesMax && len(message) <= 8<<10 && len(stack) <= 16<<10
		if short && utf8.ValidString(kind) && utf8.ValidString(message) && utf8.ValidString(stack) {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		}
		if got.RetryIn != want.RetryIn || got.Permanent != permanent {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}
