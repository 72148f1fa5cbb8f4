package cli_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	"run keep":       "it writes a file on this machine",
	"top":            "GET events and run count tell the same, as it changes",
	"ui":             "it serves the API",
	"version":        "it is about this program",
}

// notAFlag are the flags that a request needs not, or says in another way.
var notAFlag = map[string]string{
	"yes": "a request does not ask", "poll": "the handler polls", "every": "it is about a screen", "times": "it is about a screen", "file": "a request has the schedules", "served": "the API lists what nodes serve, and doctor is not over HTTP", "help": "it is about the command line",
}

// otherNames are the names that fields have for flags that may be repeated.
var otherNames = map[string]string{"label": "labels", "limit": "limits", "header": "headers", "result": "results", "message": "messages"}

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
	met := map[string]bool{}
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
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			name := strings.ReplaceAll(f.Name, "-", "_")
			if has && notAFlag[f.Name] == "" && !slices.Contains(says, name) && !slices.Contains(says, otherNames[f.Name]) {
				t.Errorf("%s %s has no field for --%s", verb, says[0], f.Name)
			}
		})
	}
	walk(root)
	for verb, says := range fields {
		if !met[verb] && verb != "openapi" && verb != "may" {
			t.Errorf("the command lacks the verb %q of %s", verb, says[0])
		}
	}
	for verb := range notOverHTTP {
		if !met[verb] {
			t.Errorf("notOverHTTP has %q, which is no verb", verb)
		}
	}
}
