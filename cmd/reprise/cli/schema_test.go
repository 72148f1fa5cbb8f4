package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
)

// docsFolder holds the pages of the command.
const docsFolder = "../../../docs/reprise"

// schema is what docs/reprise/json.md says: of each record its fields.
type schema map[string]map[string]fieldType

// fieldType is the type of a field as the page words it.
type fieldType struct {
	kind     string // text, number, yes or no, time, base64, any value, map of text, or a record
	list     bool
	optional bool
}

var (
	headLine  = regexp.MustCompile(`^## (\w+)$`)
	fieldLine = regexp.MustCompile("^\\| `(\\w+)` \\| (list of )?([^|(]+?)( \\(may be absent\\))? \\|")
)

// readSchema reads the page as its readers do.
func readSchema(t *testing.T) schema {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(docsFolder, "json.md"))
	if err != nil {
		t.Fatal(err)
	}
	s, name := schema{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if m := headLine.FindStringSubmatch(line); m != nil {
			name = m[1]
			s[name] = map[string]fieldType{}
		}
		if m := fieldLine.FindStringSubmatch(line); m != nil {
			s[name][m[1]] = fieldType{kind: m[3], list: m[2] != "", optional: m[4] != ""}
		}
	}
	if len(s) < 15 {
		t.Fatalf("json.md has %d records", len(s))
	}
	return s
}

// check returns what of a value is not as the page says.
func (s schema) check(at, kind string, v any) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, at+": "+fmt.Sprintf(format, args...)) }
	switch kind {
	case "any value":
		return nil
	case "text":
		if _, ok := v.(string); !ok {
			say("%v is no text", v)
		}
	case "base64":
		if _, ok := v.(string); !ok {
			say("%v is no base64", v)
		}
	case "time":
		text, _ := v.(string)
		if at, err := time.Parse(time.RFC3339Nano, text); err != nil || at.Location() != time.UTC {
			say("%v is no time in UTC", v)
		}
	case "number":
		if _, ok := v.(json.Number); !ok {
			say("%v is no number", v)
		}
	case "yes or no":
		if _, ok := v.(bool); !ok {
			say("%v is neither true nor false", v)
		}
	case "map of text":
		m, ok := v.(map[string]any)
		if !ok {
			say("%v is no object", v)
		}
		for k, v := range m {
			wrong = append(wrong, s.check(at+"."+k, "text", v)...)
		}
	default:
		fields, known := s[kind]
		m, ok := v.(map[string]any)
		if !ok || !known {
			say("%v is no record %q", v, kind)
			return wrong
		}
		wrong = append(wrong, s.checkFields(at, fields, m)...)
	}
	return wrong
}

func (s schema) checkFields(at string, fields map[string]fieldType, m map[string]any) (wrong []string) {
	for name, v := range m {
		f, ok := fields[name]
		if !ok {
			wrong = append(wrong, at+"."+name+": the page has no such field")
			continue
		}
		list := []any{v}
		if f.list {
			if list, ok = v.([]any); !ok {
				wrong = append(wrong, at+"."+name+": is no list")
			}
		}
		for _, v := range list {
			wrong = append(wrong, s.check(at+"."+name, f.kind, v)...)
		}
	}
	for name, f := range fields {
		if _, ok := m[name]; !ok && !f.optional {
			wrong = append(wrong, at+"."+name+": is absent")
		}
	}
	return wrong
}

// recordsOf is what the tree says of a verb: which record, and whether it is a list of them.
func recordsOf(t *testing.T, args []string) (record string, list bool) {
	t.Helper()
	c, _, err := cli.New(&cli.Options{Register: cli.RegisterDemo}).Find(args)
	if err != nil {
		t.Fatal(err)
	}
	says := c.Annotations[cli.RecordsOf]
	record, list = strings.CutPrefix(says, "list of ")
	record, _, _ = strings.Cut(record, ",")
	record, _, _ = strings.Cut(record, " ")
	return record, list
}

// checkJSON executes a verb for programs, in both formats, and compares what it prints with the
// page. It returns what -o json has printed.
func checkJSON(t *testing.T, s schema, store string, code int, args ...string) string {
	t.Helper()
	record, list := recordsOf(t, args)
	if record == "" {
		t.Fatalf("reprise %s does not say what it prints", strings.Join(args, " "))
	}
	got := reprise(t, store, code, append(args, "-o", "json")...)
	checkJSONText(t, s, strings.Join(args, " "), record, list, got.out)
	return got.out
}

func checkJSONText(t *testing.T, s schema, verb, record string, list bool, text string) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Errorf("%s: %v in %s", verb, err, text)
		return
	}
	values := []any{v}
	if list {
		var ok bool
		if values, ok = v.([]any); !ok {
			t.Errorf("%s: is no list: %s", verb, text)
		}
	}
	for _, v := range values {
		for _, wrong := range s.check(verb, record, v) {
			t.Error(wrong)
		}
	}
}

// checkLines executes a verb with -o jsonl: each line is a record.
func checkLines(t *testing.T, s schema, store string, args ...string) int {
	t.Helper()
	record, _ := recordsOf(t, args)
	if record == "runPage" {
		record = "run"
	}
	got := reprise(t, store, cli.ExitDone, append(args, "-o", "jsonl")...)
	n := 0
	for line := range strings.Lines(got.out) {
		checkJSONText(t, s, strings.Join(args, " "), record, false, line)
		n++
	}
	return n
}
