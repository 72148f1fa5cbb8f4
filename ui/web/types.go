package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// schema is the part of JSON Schema that the description of the API uses.
type schema struct {
	Ref         string             `json:"$ref"`
	Type        string             `json:"type"`
	Description string             `json:"description"`
	Items       *schema            `json:"items"`
	Additional  *schema            `json:"additionalProperties"`
	Properties  map[string]*schema `json:"properties"`
	Required    []string           `json:"required"`
}

// operation is one method of one path.
type operation struct {
	Summary    string `json:"summary"`
	Writes     bool   `json:"x-reprise-writes"`
	Parameters []struct {
		Name, In, Description string
		Schema                *schema
	} `json:"parameters"`
	RequestBody *struct {
		Content map[string]struct{ Schema *schema }
	} `json:"requestBody"`
	Responses map[string]struct {
		Content map[string]struct{ Schema *schema }
		Events  map[string]*schema `json:"x-reprise-events"`
	} `json:"responses"`
}

// description is docs/openapi.json.
type description struct {
	Paths      map[string]map[string]*operation
	Components struct{ Schemas map[string]*schema }
}

// readTypes returns the types of the API for TypeScript.
func readTypes(folder string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(folder, described))
	if err != nil {
		return nil, err
	}
	var d description
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("%s: %w", described, err)
	}
	return d.typeScript(), nil
}

// typeScript writes an interface for each record, and one table of all operations.
func (d *description) typeScript() []byte {
	var b bytes.Buffer
	b.WriteString("// Made from docs/openapi.json by `go generate ./ui`. Do not change it by hand.\n")
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		s := d.Components.Schemas[name]
		fmt.Fprintf(&b, "\nexport interface %s {\n", name)
		for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
			p := s.Properties[field]
			comment(&b, "\t", p.Description)
			fmt.Fprintf(&b, "\t%s%s: %s;\n", member(field), optional(slices.Contains(s.Required, field)), p.typeScript())
		}
		b.WriteString("}\n")
	}
	b.WriteString("\n// Operations has what each operation takes and answers.\nexport interface Operations {\n")
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
			d.Paths[path][method].write(&b, strings.ToUpper(method)+" "+path)
		}
	}
	b.WriteString("}\n")
	return b.Bytes()
}

func (op *operation) write(b *bytes.Buffer, name string) {
	comment(b, "\t", op.Summary)
	fmt.Fprintf(b, "\t%q: {\n", name)
	for _, in := range []string{"path", "query"} {
		fmt.Fprintf(b, "\t\t%s: {", in)
		sep := ""
		for _, p := range op.Parameters {
			if p.In == in {
				fmt.Fprintf(b, "%s %s%s: %s", sep, member(p.Name), optional(in == "path"), p.Schema.typeScript())
				sep = ";"
			}
		}
		b.WriteString(" };\n")
	}
	body := "undefined"
	if op.RequestBody != nil {
		body = op.RequestBody.Content["application/json"].Schema.typeScript()
	}
	answer, events := "unknown", ""
	for code, r := range op.Responses {
		if strings.HasPrefix(code, "2") {
			if s := r.Content["application/json"].Schema; s != nil {
				answer = s.typeScript()
			}
			for _, event := range slices.Sorted(maps.Keys(r.Events)) {
				events += fmt.Sprintf(" %s: %s;", member(event), r.Events[event].typeScript())
			}
		}
	}
	fmt.Fprintf(b, "\t\tbody: %s;\n\t\tanswer: %s;\n\t\tevents: {%s };\n\t\twrites: %t;\n\t};\n", body, answer, events, op.Writes)
}

// typeScript is the type that a schema describes.
func (s *schema) typeScript() string {
	switch {
	case s == nil:
		return "unknown"
	case s.Ref != "":
		return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
	}
	switch s.Type {
	case "string", "boolean":
		return s.Type
	case "integer", "number":
		return "number"
	case "array":
		return "Array<" + s.Items.typeScript() + ">"
	case "object":
		if s.Additional != nil || len(s.Properties) == 0 {
			return "Record<string, " + s.Additional.typeScript() + ">"
		}
		var b strings.Builder
		b.WriteByte('{')
		for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
			fmt.Fprintf(&b, " %s%s: %s;", member(field), optional(slices.Contains(s.Required, field)), s.Properties[field].typeScript())
		}
		return b.String() + " }"
	}
	return "unknown"
}

func comment(b *bytes.Buffer, indent, text string) {
	if text != "" {
		fmt.Fprintf(b, "%s/** %s */\n", indent, strings.ReplaceAll(text, "*/", "* /"))
	}
}

// member is the name of a member, in quotes if it is no word.
func member(name string) string {
	for _, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') {
			return fmt.Sprintf("%q", name)
		}
	}
	return name
}

func optional(required bool) string {
	if required {
		return ""
	}
	return "?"
}
