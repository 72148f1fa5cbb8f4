package postgres_test

import (
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// TestViewsKnowEveryKind compares the words of the views with those of the journal.
func TestViewsKnowEveryKind(t *testing.T) {
	t.Parallel()
	conn := connect(t, pgtest.New(t))
	for kind, word := range journal.Kinds() {
		if got := query[string](t, conn, "SELECT reprise.event_word($1::smallint)", int16(kind)); got != word {
			t.Errorf("kind %d is %q in the views, want %q", kind, got, word)
		}
	}
}

// TestReadable: whatever somebody stored, a view shows it.
func TestReadable(t *testing.T) {
	t.Parallel()
	conn := connect(t, pgtest.New(t))
	for _, c := range []struct {
		payload  string
		encoding *string
		want     string
	}{
		{`{"a": 1}`, nil, `{"a": 1}`},
		{`"\u0000"`, nil, `"\u0000"`},
		{"not json", nil, `"not json"`},
		{"\xff\xfe", nil, `"\\377\\376"`},
		{"\x00", nil, `"\\000"`},
		{"", nil, `""`},
		{`{"type":"x"}`, new("failure"), `{"type":"x"}`},
		{`{"a": 1}`, new("aes"), `"{\"a\": 1}"`},
	} {
		if got := query[string](t, conn, "SELECT reprise.readable($1::bytea, $2::text)::text", []byte(c.payload), c.encoding); got != c.want {
			t.Errorf("%q is shown as %s, want %s", c.payload, got, c.want)
		}
	}
}
