package uitest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// A workflow that tells the types of all that it is given, for forms.
const (
	Pack   workflow.Name[Parcel, Parcel]  = "pack"
	Repack workflow.Signal[Parcel]        = "repack"
	Move   workflow.Update[Address, bool] = "move"
	Weigh  workflow.Query[Item, int64]    = "weigh"
)

// Parcel has what a form has to write: parts, lists, what may be absent, times, numbers of 64 bits,
// and itself.
type Parcel struct {
	To      Address        `json:"to"`
	Items   []Item         `json:"items"`
	Fragile bool           `json:"fragile"`
	Value   uint64         `json:"value"`
	Weight  float64        `json:"weight,omitempty"`
	By      time.Time      `json:"by,omitzero"`
	Note    *string        `json:"note"`
	Stamps  map[string]int `json:"stamps,omitempty"`
	Inner   *Parcel        `json:"inner,omitempty"`
}

// Address is a part of a Parcel.
type Address struct {
	Name   string   `json:"name"`
	Street []string `json:"street,omitempty"`
}

// Item is an element of a Parcel.
type Item struct {
	What  string `json:"what"`
	Count int64  `json:"count"`
}

func pack(ctx workflow.Context, in Parcel) (Parcel, error) {
	Move.Handle(ctx, func(_ workflow.Context, to Address) (bool, error) {
		in.To = to
		return true, nil
	}, nil)
	Weigh.Handle(ctx, func(i Item) (int64, error) { return i.Count, nil })
	again, err := Repack.Receive(ctx)
	if err == nil && again.Value > 0 {
		in.Inner = &again
	}
	return in, err
}

func registerForms(n *runtime.Node) {
	runtime.Handle(n, Pack, pack, &runtime.HandleOptions{Messages: []runtime.MessageType{
		runtime.SignalType(Repack), runtime.UpdateType(Move), runtime.QueryType(Weigh)}})
}

// Foreign is a workflow of PlantForeign.
const Foreign = "foreign"

// PlantForeign lets a node join whose program describes its types in words that Go's types have
// not: choices, and types by their names, which contain themselves.
func (s *Server) PlantForeign(t testing.TB) {
	t.Helper()
	route := journal.Route{Queue: longQueue, Workflow: Foreign, Version: 1}
	const schema = `{"$ref": "#/$defs/Tree", "$defs": {
		"Tree": {"type": "object", "required": ["size", "<b>name</b>"], "properties": {
			"size": {"enum": ["small", "large"], "type": "string", "description": "How large it is. <script>alert(5)</script>"},
			"<b>name</b>": {"type": "string", "title": "a name"},
			"left": {"$ref": "#/$defs/Tree"}, "loop": {"$ref": "#/$defs/Loop"}, "none": {"$ref": "#/$defs/None"}}},
		"Loop": {"$ref": "#/$defs/Loop"}}}`
	m, err := driver.New(s.store, nil).Join(clustertest.Context(t), journal.Node{Name: "foreign", Lease: time.Hour, Routes: []journal.Route{route},
		Types: map[journal.Route][]journal.Type{route: {{Kind: journal.TypeWorkflow, In: json.RawMessage(schema)}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Leave(clustertest.Context(t)); err != nil {
			t.Error(err)
		}
	})
}
