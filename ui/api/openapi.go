package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"
)

// OpenAPI returns the description of the API, as GET openapi.json has it. It is the same for every
// handler. The extension x-reprise-verbs of an operation names the verbs of the command that it is.
func OpenAPI() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(document()); err != nil {
		panic(err) // it is made of texts
	}
	return b.Bytes()
}

// object is an object of JSON.
type object = map[string]any

// document is made once.
var document = sync.OnceValue(func() object {
	s := &schemas{known: object{}}
	paths := object{}
	for _, op := range operations() {
		path, _ := paths[op.path].(object)
		if path == nil {
			path = object{}
			paths[op.path] = path
		}
		path[strings.ToLower(op.method)] = s.operation(op)
	}
	var problems []object
	for _, k := range kinds {
		problems = append(problems, object{"type": typePrefix + k.name, "status": k.status, "title": k.title})
	}
	s.of(reflect.TypeFor[Problem]())
	return object{
		"openapi": "3.1.0",
		"info": object{"title": "Reprise", "version": "1", "description": "Find runs, explain them, and act on them. See docs/http-api.md.",
			"license": object{"name": "Apache-2.0", "identifier": "Apache-2.0"}},
		"servers": []object{{"url": ".", "description": "where the handler is mounted"}}, "paths": paths,
		"components":         object{"schemas": s.known},
		"x-reprise-problems": problems,
	}
})

// schemas are those of the records and bodies that were met.
type schemas struct{ known object }

func (s *schemas) operation(op *operation) object {
	o := object{"operationId": operationID(op), "summary": op.summary, "x-reprise-verbs": op.verbs, "x-reprise-writes": op.writes}
	if list := s.parameters(op); len(list) > 0 {
		o["parameters"] = list
	}
	if op.body != nil {
		o["requestBody"] = object{"required": hasRequired(op.body), "content": object{"application/json": object{"schema": s.of(op.body)}}}
	}
	answer := object{"description": "done"}
	switch {
	case op.stream != nil:
		events := object{}
		for name, t := range op.events {
			events[name] = s.of(t)
		}
		answer["content"] = object{"text/event-stream": object{"schema": object{"type": "string"}}}
		answer["x-reprise-events"] = events
	case op.lines != nil:
		answer["content"] = object{linesType: object{"schema": object{"type": "string"}}}
		answer["x-reprise-lines"] = s.of(op.answer)
	case op.answer != nil:
		answer["content"] = object{"application/json": object{"schema": s.of(op.answer)}}
	default:
		answer["content"] = object{"application/json": object{"schema": object{"type": "object"}}}
	}
	o["responses"] = object{
		statusRange(op): answer,
		"default":       object{"description": "a problem", "content": object{"application/problem+json": object{"schema": object{"$ref": "#/components/schemas/Problem"}}}},
	}
	return o
}

// statusRange says which statuses mean that it was done.
func statusRange(op *operation) string {
	if op.writes {
		return "2XX"
	}
	return fmt.Sprint(http.StatusOK)
}

// operationID is the method and the path as one name: getRunsRunWhy.
func operationID(op *operation) string {
	id := strings.ToLower(op.method)
	for _, part := range strings.FieldsFunc(op.path, func(r rune) bool { return strings.ContainsRune("/{}.", r) }) {
		id += strings.ToUpper(part[:1]) + part[1:]
	}
	return id
}

// pathDocs explain the parts of paths.
var pathDocs = map[string]string{
	"run": "id of the run, or key=KEY for the one that has, or last had, a key", "queue": "name of the queue", "workflow": "name of the workflow", "node": "number of the node, or its name",
	"schedule": "the schedule's name, behind that of its set and an escaped slash if that is another than default: shop%2Fnightly",
	"view":     "what the view is called",
	"limit":    "name of the limit",
	"flow":     "hash of a shape, or name of a flow for the shape of it that was stored last",
}

func (s *schemas) parameters(op *operation) (list []object) {
	for _, part := range strings.Split(op.path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			name = strings.TrimSuffix(name, "}")
			list = append(list, object{"name": name, "in": "path", "required": true, "description": pathDocs[name], "schema": object{"type": "string"}})
		}
	}
	for _, p := range op.params {
		schema := object{"type": map[string]string{"text": "string", "number": "integer", "flag": "boolean", "list": "array"}[p.kind]}
		if p.kind == "list" {
			schema["items"] = object{"type": "string"}
		}
		list = append(list, object{"name": p.name, "in": "query", "description": p.doc, "schema": schema})
	}
	return list
}

func hasRequired(t reflect.Type) bool {
	for _, f := range fieldsOf(t) {
		if !f.optional {
			return true
		}
	}
	return false
}

// of returns the schema of a type: of a record a reference to it.
func (s *schemas) of(t reflect.Type) object {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return object{} // any value
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[[]byte]():
		return object{"type": "string", "contentEncoding": "base64"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.Slice:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		return s.record(t)
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int16, reflect.Int32, reflect.Int64:
		return object{"type": "integer"}
	}
	panic("api: no schema for " + t.String()) // a record has none of these
}

// record describes a struct once. Its name is that of the type.
func (s *schemas) record(t reflect.Type) object {
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	ref := object{"$ref": "#/components/schemas/" + name}
	if s.known[name] != nil {
		return ref
	}
	schema := object{"type": "object"}
	s.known[name] = schema // before its fields, which may be of the same type
	properties, required := object{}, []string{}
	for _, f := range fieldsOf(t) {
		property := object{"description": f.doc}
		for k, v := range s.of(f.typ) {
			property[k] = v
		}
		properties[f.name] = property
		if !f.optional {
			required = append(required, f.name)
		}
	}
	schema["properties"] = properties
	if len(required) > 0 {
		schema["required"] = required
	}
	return ref
}
