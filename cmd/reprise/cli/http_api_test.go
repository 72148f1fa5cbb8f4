package cli_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
	"github.com/reprise-run/reprise/ui/api"
)

// notOverHTTP are the verbs that the HTTP API has not, and why.
var notOverHTTP = map[string]string{
	"completion bash": "it is for a shell", "completion fish": "it is for a shell", "completion powershell": "it is for a shell", "completion zsh": "it is for a shell",
	"demo":           "it plants runs of its own in an empty store",
	"doctor":         "it looks at the store's settings and tables, which a client does not know",
	"man":            "it writes files on this machine",
	"migrate sql":    "tables are changed before programs run",
	"migrate status": "tables are changed before programs run",
	"migrate up":     "tables are changed before programs run",
	"top":            "GET events and run count tell the same, as it changes",
	"version":        "it is about this program",

	"flow draw": recordsOfCommand, "flow list": recordsOfCommand, "schedule apply": recordsOfCommand, "schedule backfill": recordsOfCommand, "schedule delete": recordsOfCommand,
	"schedule list": recordsOfCommand, "schedule pause": recordsOfCommand, "schedule preview": recordsOfCommand, "schedule resume": recordsOfCommand,
	"schedule show": recordsOfCommand, "schedule trigger": recordsOfCommand,
}

// recordsOfCommand is why flows and schedules are not over HTTP.
const recordsOfCommand = "its records are types of the command: those of package ui/record alone are answered"

// notAFlag are the flags that a request needs not, or says in another way.
var notAFlag = map[string]string{
	"yes": "a request does not ask", "poll": "the handler polls", "every": "it is about a screen", "times": "it is about a screen", "help": "it is about the command line",
}

// otherNames are the names that fields have for flags that may be repeated.
var otherNames = map[string]string{"label": "labels", "header": "headers", "result": "results", "message": "messages"}

// operation is what docs/openapi.json says of one.
type operation struct {
	Verbs      []string `json:"x-reprise-verbs"`
	Parameters []struct {
		Name string `json:"name"`
	} `json:"parameters"`
	Body struct {
		Content map[string]struct {
			Schema struct {
				Ref string `json:"$ref"`
			} `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
}

// flagLine is a flag in the help of a verb.
var flagLine = regexp.MustCompile(`(?m)^ {2,}(?:-\w, )?--([a-z-]+)`)

// TestCommandAndAPI walks the tree of verbs and the operations of the HTTP API and names what one of
// them lacks: a verb, or what a flag says.
func TestCommandAndAPI(t *testing.T) {
	t.Parallel()
	var doc struct {
		Paths      map[string]map[string]operation
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(api.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	fields := map[string][]string{} // what operations let one say, by their verbs
	for path, methods := range doc.Paths {
		for method, op := range methods {
			says := []string{method + " " + path}
			for _, p := range op.Parameters {
				says = append(says, p.Name)
			}
			for _, body := range op.Body.Content {
				for name := range doc.Components.Schemas[strings.TrimPrefix(body.Schema.Ref, "#/components/schemas/")].Properties {
					says = append(says, name)
				}
			}
			for _, verb := range op.Verbs {
				fields[verb] = append(fields[verb], says...)
			}
		}
	}
	root := cli.New(&cli.Options{Register: cli.RegisterDemo})
	root.InitDefaultCompletionCmd()
	met, flags := map[string]bool{}, 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.HasSubCommands() || c.Name() == "help" {
			return
		}
		verb := strings.TrimPrefix(c.CommandPath(), root.Name()+" ")
		met[verb] = true
		says, has := fields[verb]
		switch why := notOverHTTP[verb]; {
		case !has && why == "":
			t.Errorf("the API lacks the verb %q: add an operation, or a reason to notOverHTTP", verb)
		case has && why != "":
			t.Errorf("the API has %q, which notOverHTTP says it has not", verb)
		}
		for _, m := range flagLine.FindAllStringSubmatch(c.LocalNonPersistentFlags().FlagUsages(), -1) {
			flag := m[1]
			flags++
			if has && notAFlag[flag] == "" && !slices.Contains(says, strings.ReplaceAll(flag, "-", "_")) && !slices.Contains(says, otherNames[flag]) {
				t.Errorf("%s %s has no field for --%s", verb, says[0], flag)
			}
		}
	}
	walk(root)
	if flags < 100 {
		t.Errorf("the verbs have %d flags: the pattern does not find them", flags)
	}
	for verb, says := range fields {
		if !met[verb] && verb != "openapi" {
			t.Errorf("the command lacks the verb %q of %s", verb, says[0])
		}
	}
	for verb := range notOverHTTP {
		if !met[verb] {
			t.Errorf("notOverHTTP has %q, which is no verb", verb)
		}
	}
}
