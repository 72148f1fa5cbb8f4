package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/ui/api"
)

var update = flag.Bool("update", false, "write what tests compare with")

type object = map[string]any

// described is the description of the API, as its readers have it.
var described = sync.OnceValue(func() object {
	var doc object
	if err := json.Unmarshal(api.OpenAPI(), &doc); err != nil {
		panic(err)
	}
	return doc
})

// at follows names into an object.
func at(v any, names ...string) any {
	for _, n := range names {
		m, _ := v.(object)
		v = m[n]
	}
	return v
}

// operationOf finds the operation of a request, by its path.
func operationOf(t testing.TB, method, path string) (pattern string, op object) {
	t.Helper()
	path, _, _ = strings.Cut(path, "?")
	given := strings.Split(path, "/")
	best := -1
	for template, methods := range at(described(), "paths").(object) {
		parts := strings.Split(template, "/")
		fits, literal := len(parts) == len(given), 0
		for i := 0; fits && i < len(parts); i++ {
			if parts[i] == given[i] {
				literal++
			} else if !strings.HasPrefix(parts[i], "{") {
				fits = false
			}
		}
		if o, ok := at(methods, strings.ToLower(method)).(object); fits && ok && literal > best {
			pattern, op, best = method+" "+template, o, literal
		}
	}
	if op == nil {
		t.Fatalf("the description has no %s %s", method, path)
	}
	return pattern, op
}

// checkAnswer compares an answer with the description, and returns the pattern of its operation.
func checkAnswer(t testing.TB, method, path string, got answer) string {
	t.Helper()
	pattern, op := operationOf(t, method, path)
	responses := at(op, "responses").(object)
	r := responses[fmt.Sprint(got.status)]
	if line, ok := at(r, "x-reprise-lines").(object); ok {
		if got.header.Get("Content-Type") != "application/jsonl" {
			t.Errorf("%s: type %q", pattern, got.header.Get("Content-Type"))
		}
		for text := range strings.Lines(got.body) {
			checkText(t, pattern, line, text)
		}
		return pattern
	}
	if r == nil {
		r = responses[fmt.Sprintf("%dXX", got.status/100)]
	}
	schema := at(r, "content", "application/json", "schema")
	if schema == nil || got.header.Get("Content-Type") != "application/json" {
		t.Errorf("%s: status %d and type %q are not described", pattern, got.status, got.header.Get("Content-Type"))
		return pattern
	}
	checkText(t, pattern, schema, got.body)
	return pattern
}

func checkText(t testing.TB, where string, schema any, text string) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Errorf("%s: %v in %s", where, err, text)
		return
	}
	for _, wrong := range fit(where, schema.(object), v) {
		t.Error(wrong)
	}
}

// fit returns what of a value is not as its schema says. Fields that the schema has not are wrong.
func fit(where string, schema object, v any) (wrong []string) {
	if ref, ok := schema["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/components/schemas/")
		target, ok := at(described(), "components", "schemas", name).(object)
		if !ok {
			return []string{where + ": no schema " + ref}
		}
		return fit(where, target, v)
	}
	say := func() { wrong = append(wrong, fmt.Sprintf("%s: %v is no %v", where, v, schema["type"])) }
	switch schema["type"] {
	case nil:
	case "string":
		text, ok := v.(string)
		if schema["format"] == "date-time" {
			_, err := time.Parse(time.RFC3339Nano, text)
			ok = ok && err == nil
		}
		if !ok {
			say()
		}
	case "boolean":
		if _, ok := v.(bool); !ok {
			say()
		}
	case "integer", "number":
		n, ok := v.(json.Number)
		if !ok || schema["type"] == "integer" && strings.ContainsAny(n.String(), ".e") {
			say()
		}
	case "array":
		list, ok := v.([]any)
		if !ok {
			say()
		}
		for i, m := range list {
			wrong = append(wrong, fit(fmt.Sprintf("%s[%d]", where, i), schema["items"].(object), m)...)
		}
	case "object":
		m, ok := v.(object)
		if !ok {
			say()
			break
		}
		wrong = append(wrong, fitFields(where, schema, m)...)
	default:
		say()
	}
	return wrong
}

func fitFields(where string, schema, m object) (wrong []string) {
	properties, _ := schema["properties"].(object)
	others, _ := schema["additionalProperties"].(object)
	for name, v := range m {
		switch p, ok := properties[name].(object); {
		case ok:
			wrong = append(wrong, fit(where+"."+name, p, v)...)
		case others != nil:
			wrong = append(wrong, fit(where+"."+name, others, v)...)
		case properties != nil:
			wrong = append(wrong, where+"."+name+": the description has no such field")
		}
	}
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if _, ok := m[name.(string)]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s.%s: is absent", where, name))
		}
	}
	return wrong
}

// TestOpenAPI compares docs/openapi.json with the operations. With -update it writes the file.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "docs", "openapi.json")
	if *update {
		if err := os.WriteFile(file, api.OpenAPI(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(api.OpenAPI()), string(got)); d != "" {
		t.Errorf("%s is not what the code says; -update writes it (-want +got):\n%s", file, d)
	}
}

// TestDescription: whatever the description refers to is in it, names of operations are there once,
// and each field and parameter says what it means.
func TestDescription(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	var walk func(where string, v any)
	walk = func(where string, v any) {
		switch v := v.(type) {
		case []any:
			for i, m := range v {
				walk(fmt.Sprintf("%s[%d]", where, i), m)
			}
		case object:
			if ref, ok := v["$ref"].(string); ok && at(described(), strings.Split(strings.TrimPrefix(ref, "#/"), "/")...) == nil {
				t.Errorf("%s refers to %s, which is not there", where, ref)
			}
			if id, ok := v["operationId"].(string); ok {
				if ids[id] {
					t.Errorf("two operations are called %s", id)
				}
				ids[id] = true
			}
			_, isParameter := v["in"]
			if d, has := v["description"]; (isParameter || has) && d == "" {
				t.Errorf("%s has no description", where)
			}
			for name, m := range v {
				walk(where+"."+name, m)
			}
		}
	}
	walk("", described())
	if len(ids) < 30 {
		t.Errorf("the description has %d operations", len(ids))
	}
}

// TestPage: docs/http-api.md names each operation with its verbs, and each kind of problem under a
// heading, to which its URI leads.
func TestPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "http-api.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for path, methods := range at(described(), "paths").(object) {
		for method, op := range methods.(object) {
			var verbs []string
			for _, v := range at(op, "x-reprise-verbs").([]any) {
				verbs = append(verbs, v.(string))
			}
			if len(verbs) > 3 {
				verbs = []string{"bulk …"}
			}
			line := fmt.Sprintf("| `%s %s` | %s |", strings.ToUpper(method), path, strings.Join(verbs, ", "))
			if !strings.Contains(page, line) {
				t.Errorf("docs/http-api.md lacks %s", line)
			}
		}
	}
	for _, k := range at(described(), "x-reprise-problems").([]any) {
		_, name, _ := strings.Cut(at(k, "type").(string), "#")
		if !strings.Contains(page, "\n### "+name+"\n") || !strings.Contains(page, fmt.Sprintf("Status %v", at(k, "status"))) {
			t.Errorf("docs/http-api.md has no heading and status for %s", name)
		}
	}
}
