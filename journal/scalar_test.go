package journal_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/reprise-run/reprise/journal"
)

// plainJSON is what encoding/json makes of a value, without HTML escapes.
func plainJSON(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte{'\n'}))
}

// same encodes a value, and decodes the JSON of data, as the codec does and as encoding/json does.
// What data holds may be no JSON at all.
func same[T comparable](t *testing.T, v T, data []byte) {
	t.Helper()
	p, err := journal.JSON{}.Encode(v)
	if want := plainJSON(t, v); err != nil || string(p.Data) != want || p.Encoding != journal.EncodingJSON {
		t.Errorf("%T %v is encoded as %q in %q, %v, want %q", v, v, p.Data, p.Encoding, err, want)
	}
	if len(data) == 0 {
		return
	}
	got, want := v, v
	err, wantErr := journal.JSON{}.Decode(journal.Payload{Data: data}, &got), json.Unmarshal(data, &want)
	if got != want || (err == nil) != (wantErr == nil) {
		t.Errorf("%q is decoded into a %T as %v, %v; want %v, %v", data, v, got, err, want, wantErr)
	}
}

// A nil pointer is an error, as ever.
func TestScalarsNeedAPlace(t *testing.T) {
	for data, v := range map[string]any{"1": (*int)(nil), "2": (*int64)(nil), "true": (*bool)(nil), "{}": (*struct{})(nil), `"a"`: (*string)(nil)} {
		if err := (journal.JSON{}).Decode(journal.Payload{Data: []byte(data)}, v); err == nil {
			t.Errorf("%s was decoded into nothing", data)
		}
	}
}

// The codec's short cuts for plain values change nothing: it is encoding/json, byte by byte and
// error by error.
func FuzzScalars(f *testing.F) {
	for _, data := range []string{"0", "-0", "-", "01", "1e2", "1.0", "-7", " 1", "1 ", "999999999999999999", "9999999999999999999",
		"-9223372036854775808", "true", "false", "tru", "null", "{}", "{ }", "[]", `""`, `"`, `"a"`, `"a\n"`, `"\u00e9"`, "\"\xff\"", `"é"`,
		`"<&>"`, `"a"b"`, `"a`, "\"\x7f\"", "\"\x00\"", `"a" `} {
		f.Add(int64(math.MinInt64), data, []byte(data))
	}
	f.Add(int64(math.MaxInt64), "\u2028 \\ \" \x1f", []byte("\"\u2028\""))
	f.Fuzz(func(t *testing.T, n int64, s string, data []byte) {
		same(t, n, data)
		same(t, int(n), data)
		same(t, n%2 == 0, data)
		same(t, s, data)
		same(t, struct{}{}, data)
	})
}
