package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/record"
)

var update = flag.Bool("update", false, "write the pages that tests compare with")

// recordTypes are what verbs print, in the order of the page.
var recordTypes = []any{
	record.RunPage{}, record.Run{}, record.Detail{}, record.Step{}, record.Timer{}, record.Child{}, record.Message{}, record.Why{}, record.Reason{},
	record.Event{}, record.Payload{}, record.Failure{}, record.Published{}, record.Started{}, record.Sent{}, record.Answer{}, record.Replayed{}, record.Kept{}, record.Rewound{}, record.RewoundMessage{}, record.Along{}, record.Repeated{}, record.Forked{}, record.Replaced{}, record.Unread{}, record.Tally{}, record.Group{}, record.Failures{}, record.FailureGroup{}, record.Drawing{}, record.FlowNode{}, record.Shape{}, record.Schedule{}, record.Slot{}, record.ScheduleChange{}, record.ScheduleTold{}, record.View{}, record.ViewChange{}, record.Limit{}, record.LimitBounds{}, record.LimitKey{}, record.LimitClaim{}, record.LimitWait{}, record.LimitChange{},
	record.Freeze{}, record.Node{}, record.Route{}, record.Served{}, record.Workflow{}, record.WorkflowVersion{}, record.MessageType{}, record.Queue{}, record.Scope{}, topRecord{}, countRecord{}, record.Bulk{}, record.BulkFailure{}, record.OutcomePage{}, record.Outcome{}, record.Audit{}, migrationRecord{}, versionRecord{}, findingRecord{}, plantedRecord{},
}

// TestPages compares docs/reprise with the tree of verbs and the types of records. With -update it
// writes the pages.
func TestPages(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("..", "..", "..", "docs", "reprise")
	pages := commandPages(t)
	pages["json.md"] = jsonPage(t)
	if *update {
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range pages {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, ok := pages[e.Name()]; !ok {
			t.Errorf("%s: no verb has this page; -update removes it", e.Name())
		}
	}
	for name, want := range pages {
		got, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Errorf("%v; -update writes it", err)
		}
		if d := cmp.Diff(want, string(got)); d != "" {
			t.Errorf("%s is not what the code says; -update writes it (-want +got):\n%s", name, d)
		}
	}
}

// commandPages are the pages of all verbs, those that need code as well.
func commandPages(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	root := New(&Options{Register: func(*runtime.Node) {}})
	root.DisableAutoGenTag = true
	root.InitDefaultCompletionCmd()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" {
			return
		}
		var b bytes.Buffer
		if err := doc.GenMarkdown(c, &b); err != nil {
			t.Fatal(err)
		}
		pages[strings.ReplaceAll(c.CommandPath(), " ", "_")+".md"] = b.String()
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	return pages
}

// recordName is the name of a type of this package without its suffix, or of one of package record.
func recordName(t reflect.Type) string {
	name := strings.TrimSuffix(t.Name(), "Record")
	return strings.ToLower(name[:1]) + name[1:]
}

const jsonHead = `# What verbs print with -o json and -o jsonl

Each verb's page says which record it prints: one, a list, or with ` + "`-o jsonl`" + ` a record a line. Fields keep their names and
meanings within a major version; further ones may come, so programs ignore those that they do not know. Times are in UTC. Errors
are text on standard error; branch on the exit code.
`

// jsonPage is the page of all records.
func jsonPage(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(jsonHead)
	for _, r := range recordTypes {
		typ := reflect.TypeOf(r)
		fmt.Fprintf(&b, "\n## %s\n\n| field | type | meaning |\n|---|---|---|\n", recordName(typ))
		for f := range typ.Fields() {
			name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" || f.Tag.Get("doc") == "" {
				t.Errorf("%s.%s has no name or no meaning", typ.Name(), f.Name)
			}
			absent := ""
			if strings.Contains(rest, "omitempty") {
				absent = " (may be absent)"
			}
			fmt.Fprintf(&b, "| `%s` | %s%s | %s |\n", name, typeWord(t, f.Type), absent, f.Tag.Get("doc"))
		}
	}
	return b.String()
}

// typeWord is a type for readers. It refuses types of other packages: a record has none.
func typeWord(t *testing.T, typ reflect.Type) string {
	switch {
	case typ == reflect.TypeFor[json.RawMessage]():
		return "any value"
	case typ == reflect.TypeFor[time.Time]():
		return "time"
	case typ == reflect.TypeFor[[]byte]():
		return "base64"
	case typ == reflect.TypeFor[map[string]string]():
		return "map of text"
	case typ.Kind() == reflect.Pointer:
		return typeWord(t, typ.Elem())
	case typ.Kind() == reflect.Slice:
		return "list of " + typeWord(t, typ.Elem())
	case typ.Kind() == reflect.Struct:
		known := slices.ContainsFunc(recordTypes, func(r any) bool { return reflect.TypeOf(r) == typ })
		if !known {
			t.Errorf("%s is no record", typ)
		}
		return recordName(typ)
	case typ.PkgPath() != "":
		t.Errorf("%s is a type of a package", typ)
	case typ.Kind() == reflect.String:
		return "text"
	case typ.Kind() == reflect.Bool:
		return "yes or no"
	}
	return "number"
}

// TestEveryVerbHelps: each verb has a sentence, says what it prints, and its records are on the
// page.
func TestEveryVerbHelps(t *testing.T) {
	t.Parallel()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Short == "" {
			t.Errorf("%s has no sentence", c.CommandPath())
		}
		if says := c.Annotations[recordsKey]; says != "" {
			name, _ := strings.CutPrefix(says, "list of ")
			name, _, _ = strings.Cut(name, ",")
			name, _, _ = strings.Cut(name, " ")
			if !slices.ContainsFunc(recordTypes, func(r any) bool { return recordName(reflect.TypeOf(r)) == name }) {
				t.Errorf("%s prints %q, which is no record", c.CommandPath(), name)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(New(&Options{Register: func(*runtime.Node) {}}))
}
