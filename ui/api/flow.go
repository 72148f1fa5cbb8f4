package api

import (
	"errors"
	"net/http"
	"reflect"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow/flow"
	"github.com/reprise-run/reprise/runtime/flows"
	"github.com/reprise-run/reprise/ui/record"
)

var asParam = text("as", "also as a flowchart in this language: mermaid or dot")

func flowOperations() []*operation {
	drawing := reflect.TypeFor[record.Drawing]()
	return []*operation{
		{method: http.MethodGet, path: "/flows", verbs: []string{"flow list"}, summary: "List the shapes of flows that are stored, newest first.",
			answer: reflect.TypeFor[[]record.Shape](), do: listFlows},
		{method: http.MethodGet, path: "/flows/{flow}", verbs: []string{"flow draw"}, summary: "Show the nodes of a flow, and what each comes after.",
			params: []param{asParam}, answer: drawing, do: showFlow},
		{method: http.MethodGet, path: "/runs/{run}/flow", verbs: []string{"flow draw"}, summary: "Show where the nodes of a run of a flow stand, with the shape that it began with.",
			params: []param{asParam}, answer: drawing, do: flowOfRun},
	}
}

// shapeRuns calls fn with the runs that keep shapes and that the actor may see, newest first, until
// it returns false.
func shapeRuns(c *call, f journal.ListFilter, fn func(*journal.Run) bool) error {
	for f.KeyPrefix, f.Limit = flows.KeyPrefix, journal.ListMax; ; {
		page, err := c.h.client.List(c.ctx, f)
		if err != nil {
			return err
		}
		for i := range page.Runs {
			if c.sees(&page.Runs[i]) && !fn(&page.Runs[i]) {
				return nil
			}
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			return nil
		}
	}
}

func listFlows(c *call) (any, error) {
	if err := c.may(c.op.verb(), nil); err != nil {
		return nil, err
	}
	list := []record.Shape{}
	err := shapeRuns(c, journal.ListFilter{}, func(r *journal.Run) bool {
		list = append(list, record.ShapesOf([]journal.Run{*r})...)
		return true
	})
	return list, err
}

// keptShape returns the newest shape that a filter selects, nil for none.
func keptShape(c *call, f journal.ListFilter) (*flow.Shape, error) {
	hash := ""
	err := shapeRuns(c, f, func(r *journal.Run) bool {
		for _, s := range record.ShapesOf([]journal.Run{*r}) {
			hash = s.Shape
		}
		return hash == ""
	})
	if err != nil || hash == "" {
		return nil, err
	}
	return flows.Shape(c.ctx, c.h.client, hash)
}

// showFlow finds a shape by its hash, or the one of a flow that was stored last by the flow's name.
// A flow of the program is found also if it is not stored.
func showFlow(c *call) (any, error) {
	if err := c.may(c.op.verb(), nil); err != nil {
		return nil, err
	}
	arg := c.r.PathValue("flow")
	shape, err := keptShape(c, journal.ListFilter{Key: flows.KeyPrefix + arg})
	if err == nil && shape == nil {
		shape, err = keptShape(c, journal.ListFilter{Workflow: flows.WorkflowPrefix + arg})
	}
	if err != nil {
		return nil, err
	}
	if shape == nil {
		shape = c.h.ownFlow(func(s *flow.Shape) bool { return s.Flow == arg || s.Hash() == arg })
	}
	if shape == nil {
		return nil, howTo(notFound, "GET flows lists the shapes that there are; flows.Start and flows.Store keep one", "no flow and no shape of one is %q", arg)
	}
	return drawingShown(c, &flow.State{Shape: shape, Hash: shape.Hash()}, "", nil)
}

// ownFlow returns a flow of the program, nil if it has none such.
func (h *handler) ownFlow(is func(*flow.Shape) bool) *flow.Shape {
	if i := slices.IndexFunc(h.o.Flows, is); i >= 0 {
		return h.o.Flows[i]
	}
	return nil
}

func flowOfRun(c *call) (any, error) {
	run, err := c.run()
	if err != nil {
		return nil, err
	}
	row, err := c.mustRead(run)
	if err != nil {
		return nil, err
	}
	own := c.h.ownFlow(func(s *flow.Shape) bool { return s.Flow == row.Workflow })
	st, err := flows.State(c.ctx, c.h.client, run, own)
	if errors.Is(err, flows.ErrNoShape) {
		return nil, howTo(notFound, "start runs of it with flows.Start, or keep its shape with flows.Store, or give it to the API: Options.Flows",
			"run %s is of no flow whose shape is known", run)
	}
	if err != nil {
		return nil, err
	}
	return drawingShown(c, st, run.String(), own)
}

// drawingShown is the answer about a flow, or a run of one, whose program has the shape own.
func drawingShown(c *call, st *flow.State, run string, own *flow.Shape) (any, error) {
	rec := record.DrawingOf(st, run)
	if id, err := journal.ParseRunID(run); err == nil {
		c.maker.HideErrors(id, &rec)
	}
	if own != nil && own.Hash() != st.Hash {
		rec.Differs = st.Shape.Difference(own)
	}
	if as := c.text(asParam.name); as != "" {
		var ok bool
		if rec.Picture, ok = record.Draw(st, as); !ok {
			return nil, refuse(invalidRequest, "parameter %q is none of mermaid, dot: %q", asParam.name, as)
		}
	}
	return &rec, nil
}
