package api

import (
	"net/http"
	"reflect"
	"strings"
)

// operation is one method of one path. The table of them is what the handler routes by, what
// GET openapi.json describes, and what tests compare with the verbs of the command.
type operation struct {
	method, path string
	// verbs are those of the command that the operation is; Allow is asked for the first of them,
	// or the one that the request names.
	verbs   []string
	summary string
	params  []param
	body    reflect.Type // of a pointer's target; nil without a body
	answer  reflect.Type
	writes  bool // with dry_run it does not
	do      func(c *call) (any, error)
	events  map[string]reflect.Type // what a stream sends, by the names of the events
	// stream answers with server-sent events, instead of do.
	stream func(c *call, s *stream) error
	// lines answers with a line of JSON for each value, instead of do. answer is that of a line.
	lines func(c *call, write func(v any) error) error
}

// param is a parameter in the query of a request.
type param struct {
	name, doc string
	kind      string // text, number, flag or list
}

func text(name, doc string) param   { return param{name, doc, "text"} }
func number(name, doc string) param { return param{name, doc, "number"} }
func flag(name, doc string) param   { return param{name, doc, "flag"} }
func list(name, doc string) param   { return param{name, doc, "list"} }

// dryRun is a parameter of operations that can say what they would do.
var dryRun = flag("dry_run", "say what it would do, and do nothing")

// reason is a parameter of operations without a body.
var reason = text("reason", "why, for the audit")

// verb is the verb for which Allow is asked.
func (op *operation) verb() string { return op.verbs[0] }

// pattern is the operation for http.ServeMux.
func (op *operation) pattern() string { return op.method + " " + op.path }

// find returns a parameter by its name.
func (op *operation) find(name string) *param {
	for i := range op.params {
		if op.params[i].name == name {
			return &op.params[i]
		}
	}
	return nil
}

// known lists what a request may say in its query, for errors.
func (op *operation) known() string {
	if len(op.params) == 0 {
		return "there are none"
	}
	var names []string
	for _, p := range op.params {
		names = append(names, p.name)
	}
	return "there are " + strings.Join(names, ", ")
}

// methods are those of the operations, to find out which ones a path has.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete}
