package journal_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
)

func TestCheckNameAndKey(t *testing.T) {
	long := strings.Repeat("n", journal.NameBytesMax)
	longKey := strings.Repeat("k", journal.KeyBytesMax)
	for _, s := range []string{"a", "checkout:9182", "ünïcode 🙂", " ", "~", long} {
		if err := journal.CheckName("name", s); err != nil {
			t.Errorf("name %q: %v", s, err)
		}
	}
	for _, s := range []string{"", "a", "ünïcode 🙂", "a~", longKey} {
		if err := journal.CheckKey("key", s); err != nil {
			t.Errorf("key %q: %v", s, err)
		}
	}
	for _, s := range []string{"", long + "n", "\xff", "a\x00b", "a\nb", "\t", "\x7f", "\u0085"} {
		if err := journal.CheckName("the name", s); !errors.Is(err, journal.ErrInvalid) || !strings.Contains(err.Error(), "the name") {
			t.Errorf("name %q: got %v, want an ErrInvalid that names it", s, err)
		}
	}
	for _, s := range []string{"~", "~x", longKey + "k", "\xff", "a\x00b"} {
		if err := journal.CheckKey("the key", s); !errors.Is(err, journal.ErrInvalid) || !strings.Contains(err.Error(), "the key") {
			t.Errorf("key %q: got %v, want an ErrInvalid that names it", s, err)
		}
	}
}

func TestLimitErrorNamesSizeAndLimit(t *testing.T) {
	j := journal.New(nil, &journal.Options{PayloadBytesMax: 10})
	if _, err := j.Encode("output of step charge", "12345678"); err != nil { // ten bytes with its quotes
		t.Error(err)
	}
	_, err := j.Encode("output of step charge", "123456789")
	var limit *journal.LimitError
	if !errors.As(err, &limit) || limit.Size != 11 || limit.Max != 10 || !strings.Contains(limit.What, "output of step charge") {
		t.Errorf("got %v", err)
	}
	wide := journal.New(nil, &journal.Options{PayloadBytesMax: 1 << 40})
	if err := wide.CheckPayload("x", journal.Payload{Data: make([]byte, journal.PayloadBytesCap+1)}); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("the option has no cap: %v", err)
	}
}
