package api

import (
	"net/http"
	"reflect"

	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/record"
)

func viewOperations() []*operation {
	changed := reflect.TypeFor[record.ViewChange]()
	return []*operation{
		{method: http.MethodGet, path: "/views", verbs: []string{"view list"}, summary: "List the addresses of pages that people have saved, by their names.",
			answer: reflect.TypeFor[[]record.View](), do: listViews},
		{method: http.MethodPut, path: "/views/{view}", verbs: []string{"view save"}, writes: true, body: reflect.TypeFor[saveViewRequest](), answer: changed,
			summary: "Save an address under a name, instead of the one that the name had.", do: saveView},
		{method: http.MethodDelete, path: "/views/{view}", verbs: []string{"view delete"}, writes: true, params: []param{reason}, answer: changed,
			summary: "Delete a saved address.", do: deleteView},
	}
}

// saveViewRequest is the body of a saved view.
type saveViewRequest struct {
	Address string `json:"address" doc:"a path and a query below the pages: runs?where=status+%3D+failed"`
	Reason  string `json:"reason,omitempty" doc:"why, for the audit"`
}

func listViews(c *call) (any, error) {
	if err := c.may(c.op.verb(), nil); err != nil {
		return nil, err
	}
	list, err := runtime.Views(c.ctx, c.h.client)
	if err != nil {
		return nil, err
	}
	return record.ViewsOf(list), nil
}

func saveView(c *call) (any, error) {
	b, name := c.body.(*saveViewRequest), c.r.PathValue("view")
	if err := c.may(c.op.verb(), nil); err != nil {
		return nil, err
	}
	if err := runtime.SaveView(c.because(b.Reason), c.h.client, name, b.Address); err != nil {
		return nil, err
	}
	return &record.ViewChange{Name: name, Done: "saved"}, nil
}

func deleteView(c *call) (any, error) {
	name := c.r.PathValue("view")
	if err := c.may(c.op.verb(), nil); err != nil {
		return nil, err
	}
	if err := runtime.DeleteView(c.ctx, c.h.client, name); err != nil {
		return nil, err
	}
	return &record.ViewChange{Name: name, Done: "deleted"}, nil
}
