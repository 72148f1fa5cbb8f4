package record

import (
	"errors"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
)

func TestParseLimitNeed(t *testing.T) {
	for text, want := range map[string]journal.LimitNeed{
		"bank": {Name: "bank"}, "bank*3": {Name: "bank", Cost: 3}, "tokens:acme*400": {Name: "tokens", Key: "acme", Cost: 400},
		"a:b:c": {Name: "a", Key: "b:c"}, "a:b*c*2": {Name: "a", Key: "b*c", Cost: 2}, "a:b*c": {Name: "a", Key: "b*c"}, "a:": {Name: "a"},
	} {
		if got, err := ParseLimitNeed(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", ":key", "*3", "bank*0", "bank*-1", "bank:~key", "bank:" + strings.Repeat("k", journal.KeyBytesMax+1)} {
		if got, err := ParseLimitNeed(text); !errors.Is(err, journal.ErrInvalid) || !strings.Contains(err.Error(), "NAME:KEY*COST") {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}
