package replaytest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// Registry is the code that histories are replayed with. The zero value is empty and ready for use.
type Registry struct {
	Codec journal.Codec // of the histories' payloads; default JSON

	definitions map[key]*replay.Definition
}

type key struct {
	workflow string
	version  int32
}

func (k key) String() string { return fmt.Sprintf("%s version %d", k.workflow, k.version) }

// HandleOptions of a registration.
type HandleOptions struct {
	Version int32 // default 1
}

// Handle registers a workflow function under its durable name, as runtime.Handle does with a node. A name that is
// registered twice panics.
func Handle[In, Out any](r *Registry, name workflow.Name[In, Out], fn func(workflow.Context, In) (Out, error), o *HandleOptions) {
	version := int32(1)
	if o != nil && o.Version != 0 {
		version = o.Version
	}
	r.Add(workflow.Define(name, version, fn))
}

// Add registers what workflow.Define made. A name that is registered twice panics.
func (r *Registry) Add(def *replay.Definition) {
	k := key{def.Name, def.Version}
	if r.definitions[k] != nil {
		panic("replaytest: workflow " + k.String() + " is registered twice")
	}
	if r.definitions == nil {
		r.definitions = map[key]*replay.Definition{}
	}
	r.definitions[k] = def
}

// Has tells whether the workflow is registered.
func (r *Registry) Has(workflow string, version int32) bool {
	return r.definitions[key{workflow, version}] != nil
}

func (r *Registry) find(i *replay.Info) (*replay.Definition, error) {
	k := key{i.Workflow, i.Version}
	if def := r.definitions[k]; def != nil {
		return def, nil
	}
	var known []string
	for k := range maps.Keys(r.definitions) {
		known = append(known, k.String())
	}
	slices.Sort(known)
	return nil, fmt.Errorf("workflow %s is not registered; registered are: %s", k, strings.Join(known, ", "))
}

// encoder is a journal without a store: only its codec and limits are used.
func (r *Registry) encoder() *journal.Journal {
	return journal.New(nil, &journal.Options{Codec: r.Codec})
}
