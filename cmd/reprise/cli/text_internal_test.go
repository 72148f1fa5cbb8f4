package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/ui/record"
)

// TestClean: what a stranger has stored cannot drive the terminal of whoever looks at it.
func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain, größer, 漢字": "plain, größer, 漢字", "\x1b[2Jgone": " [2Jgone", "a\rb\tc\x00d": "a b c d", "two\nlines": "two\nlines",
		"\u009b31m": " 31m", "\u202eabc": " abc", "\x7f": " ", "bad \xff": "bad  ",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
	if got := oneLine("  two\n lines, \x1b[1m and more  ", 14); got != "two lines, [1…" {
		t.Errorf("oneLine gives %q", got)
	}
}

// TestJSONIsHarmless: what a stranger has stored cannot drive a terminal through JSON either, and
// the JSON has the value that it had.
func TestJSONIsHarmless(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain, größer, 漢字": "plain, größer, 漢字", "\x1b[2J": `\u001b[2J`, "\u009b31m": `\u009b31m`, "a\x7fb\u0080": `a\u007fb\u0080`,
		"\u202eabc\u2069": `\u202eabc\u2069`, "\u200e\u200f\u061c": `\u200e\u200f\u061c`, "<&>\u00a0": "<&>\u00a0", `\` + "\u0085": `\\\u0085`,
	} {
		for _, format := range []string{formatJSON, formatLines} {
			var b bytes.Buffer
			p := &printer{w: &b, format: format}
			if err := printOne(p, &map[string]any{in: json.RawMessage(`["` + strings.ReplaceAll(strings.ReplaceAll(in, `\`, `\\`), "\x1b", `\u001b`) + `"]`)}, nil); err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(b.String(), `"`+want+`"`); n != 2 {
				t.Errorf("%q is printed as %s, want %s", in, b.String(), want)
			}
			var got map[string][]string
			if err := json.Unmarshal(b.Bytes(), &got); err != nil || len(got[in]) != 1 || got[in][0] != in {
				t.Errorf("%q is read as %q, %v", in, got, err)
			}
		}
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		-time.Millisecond: "0s ago", -59 * time.Second: "59s ago", -90 * time.Second: "1m30s ago", -2 * time.Hour: "2h ago",
		-(50*time.Hour + time.Minute): "2d2h ago", 61 * time.Minute: "in 1h1m", 30 * 24 * time.Hour: "in 30d",
	} {
		if got := (times{now: now}).at(now.Add(d)); got != want {
			t.Errorf("%s from now is %q, want %q", d, got, want)
		}
	}
	utc := times{now: now, utc: true}
	if got := utc.at(now.In(time.FixedZone("x", 3600))); got != "2026-11-29T12:00:00Z" || utc.at(time.Time{}) != "-" {
		t.Errorf("in UTC: %s", got)
	}
}

func TestParseSpan(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"90m": 90 * time.Minute, "3d": 72 * time.Hour, "1.5d": 36 * time.Hour, "": -1, "d": -1, "soon": -1} {
		got, err := record.ParseSpan(text)
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
}

// TestAuditVerbs: whatever has an entry in the audit can be asked for.
func TestAuditVerbs(t *testing.T) {
	t.Parallel()
	n := 0
	for k := driver.AdminDelete; !strings.HasPrefix(k.String(), "admin action"); k++ {
		n++
		if !slices.Contains(record.AuditVerbs, k.String()) {
			t.Errorf("--verb does not offer %s", k)
		}
	}
	if n < int(driver.AdminReset) {
		t.Errorf("only %d actions were found", n)
	}
}
