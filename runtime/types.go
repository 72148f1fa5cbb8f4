package runtime

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/reprise-run/reprise/internal/jsonschema"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

// MessageType is a signal, an update or a query with its types, see HandleOptions.Messages.
type MessageType struct {
	kind, name string
	in, out    reflect.Type // out is nil for a signal
}

// SignalType is the type of a signal.
func SignalType[T any](s workflow.Signal[T]) MessageType {
	return MessageType{journal.TypeSignal, string(s), reflect.TypeFor[T](), nil}
}

// UpdateType is the types of an update.
func UpdateType[In, Out any](u workflow.Update[In, Out]) MessageType {
	return MessageType{journal.TypeUpdate, string(u), reflect.TypeFor[In](), reflect.TypeFor[Out]()}
}

// QueryType is the types of a query.
func QueryType[Arg, Res any](q workflow.Query[Arg, Res]) MessageType {
	return MessageType{journal.TypeQuery, string(q), reflect.TypeFor[Arg](), reflect.TypeFor[Res]()}
}

// typesOf describes a workflow. The runtime's own, whose names begin with reprise., are started by
// their packages and have no forms.
func typesOf(workflow string, in, out reflect.Type, messages []MessageType) (list []journal.Type) {
	if strings.HasPrefix(workflow, "reprise.") {
		return nil
	}
	for _, m := range append([]MessageType{{kind: journal.TypeWorkflow, in: in, out: out}}, messages...) {
		list = append(list, journal.Type{Kind: m.kind, Name: m.name, In: schemaOf(m.in), Out: schemaOf(m.out)})
	}
	return list
}

// schemaOf is the schema of a type, nil for one that has none or too large a one.
func schemaOf(t reflect.Type) json.RawMessage {
	if t == nil {
		return nil
	}
	schema, err := jsonschema.Of(t, journal.TypeBytesMax)
	if err != nil || strings.Contains(string(schema), `\u0000`) { // which Postgres cannot store
		return nil
	}
	return schema
}

// typesKept are the types that are stored with the node: those of the first registrations, as many
// as there is room for. The others are known by their names alone.
func (r *registry) typesKept() map[journal.Route][]journal.Type {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept, left := map[journal.Route][]journal.Type{}, journal.TypesBytesMax
	for _, route := range r.routes {
		for _, t := range r.types[route] {
			if left -= len(t.In) + len(t.Out); left < 0 {
				t.In, t.Out = nil, nil
			}
			kept[route] = append(kept[route], t)
		}
	}
	return kept
}
