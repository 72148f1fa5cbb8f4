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

// Registry is the code that histories are replayed with, by name and version, as a node has it.
// The zero value is empty and ready for use.
type Registry struct {
	Codec journal.Codec // of the histories' payloads; default JSON
	// EveryPrefix has Check try every prefix of long histories too, which takes a time that grows
	// with the square of a history's length: about ten seconds for 3,000 events.
	EveryPrefix bool

	definitions map[key]*replay.Definition
}

// key is what a history names its code by. There is no newest version: a run keeps the one that
// it began with.
type key struct {
	workflow string
	version  int32
}

func (k key) String() string { return fmt.Sprintf("%s version %d", k.workflow, k.version) }

// HandleOptions says how a workflow is registered. Nil and zero fields mean the defaults.
type HandleOptions struct {
	Version int32 // default 1
}

// Handle registers a workflow function under its durable name, as runtime.Handle does with a
// node. It panics if name and version are registered already.
func Handle[In, Out any](r *Registry, name workflow.Name[In, Out], fn func(workflow.Context, In) (Out, error), o *HandleOptions) {
	version := int32(1)
	if o != nil && o.Version != 0 {
		version = o.Version
	}
	r.Add(workflow.Define(name, version, fn))
}

// Add registers what workflow.Define made. It panics if its name and version are registered
// already.
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

// Has tells whether the workflow is registered, for tests that go through the histories of a
// store.
func (r *Registry) Has(workflow string, version int32) bool {
	return r.definitions[key{workflow, version}] != nil
}

// find returns the code of a run, or an error that lists what is registered.
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

// encoder is a journal without a store: only its codec and limits are used. Its limits are the
// defaults, so an output that is too large fails here as it does on a node.
func (r *Registry) encoder() *journal.Journal {
	return journal.New(nil, &journal.Options{Codec: r.Codec})
}
