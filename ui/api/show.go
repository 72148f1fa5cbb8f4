package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/record"
)

func readOperations() []*operation {
	return []*operation{
		{method: http.MethodGet, path: "/runs/{run}", verbs: []string{"run show"}, summary: "Show a run: its input, what it does, how it ended.",
			answer: reflect.TypeFor[record.Detail](), do: showRun},
		{method: http.MethodGet, path: "/runs/{run}/why", verbs: []string{"run why"}, summary: "Tell why a run stands where it stands, and who has to do what.",
			answer: reflect.TypeFor[record.Why](), do: whyRun},
		{method: http.MethodGet, path: "/runs/{run}/published", verbs: []string{"run published"}, summary: "List the values that a run has published.",
			params: []param{text("name", "only the value with this name")}, answer: reflect.TypeFor[[]record.Published](), do: publishedByRun},
		{method: http.MethodPost, path: "/runs/{run}/query", verbs: []string{"run query"}, summary: "Ask a run a question, with the code of Options.Node. Nothing is written.",
			body: reflect.TypeFor[queryRequest](), answer: reflect.TypeFor[record.Answer](), do: queryRun},
		{method: http.MethodGet, path: "/runs/{run}/replay", verbs: []string{"run replay"}, summary: "Tell whether the code of Options.Node fits a run's history. Nothing is written.",
			answer: reflect.TypeFor[record.Replayed](), do: replayRun},
	}
}

func showRun(c *call) (any, error) {
	run, err := c.run()
	if err != nil {
		return nil, err
	}
	d, err := c.h.client.Describe(c.ctx, run)
	if err != nil {
		return nil, err
	}
	var terminal *journal.Event
	if d.Run.Terminal != nil { // without its payload
		ends, err := c.h.journal.Ends(c.ctx, []journal.RunID{run})
		if err == nil && len(ends) == 1 { // else it was deleted meanwhile, or cannot be read: Problem says so
			terminal = ends[0].Terminal
		}
	}
	rec := c.maker.Detail(d, terminal)
	if c.h.o.HideInputs {
		rec.Headers = nil
	}
	entries, err := c.h.client.Audit(c.ctx, journal.AuditFilter{Run: run, Limit: record.RewindsMax})
	if err != nil {
		return nil, err
	}
	rec.Rewinds, rec.May = record.RewindsOf(entries), mayDo(c, runPath, &d.Run)
	return rec, c.hideRelatives(d, rec)
}

// hideRelatives leaves the parent and those children out of a record that the actor may not see.
func (c *call) hideRelatives(d *runtime.Description, rec *record.Detail) (err error) {
	if rec.Run, err = c.record(&d.Run); err != nil {
		return err
	}
	for i := range d.Children {
		child := d.Children[i].Run
		if child == nil {
			continue
		}
		if !c.sees(child) {
			rec.Children[i].Run = nil
			continue
		}
		if *rec.Children[i].Run, err = c.record(child); err != nil {
			return err
		}
	}
	return nil
}

func whyRun(c *call) (any, error) {
	run, err := c.run()
	if err != nil {
		return nil, err
	}
	e, err := c.h.client.Why(c.ctx, run)
	if err != nil {
		return nil, err
	}
	rec := c.maker.Why(e)
	if rec.Run, err = c.record(&e.Run); err != nil {
		return nil, err
	}
	for i := range rec.Reasons {
		if l := rec.Reasons[i].Limit; l != nil {
			if l.Holders, err = claimsSeen(c, l.Holders); err != nil {
				return nil, err
			}
		}
	}
	return &rec, nil
}

func publishedByRun(c *call) (any, error) {
	run, err := c.run()
	if err != nil {
		return nil, err
	}
	row, err := c.mustRead(run)
	if err != nil {
		return nil, err
	}
	list := c.maker.Published(row, c.text("name"))
	if len(list) == 0 && c.text("name") != "" {
		return nil, howTo(notFound, "GET runs/ID/published lists what the run has published", "run %s has not published %q", run, c.text("name"))
	}
	return list, nil
}

// queryRequest is the body of a query.
type queryRequest struct {
	Name     string          `json:"name" doc:"name of the query"`
	Argument json.RawMessage `json:"argument,omitempty" doc:"its argument; null if it is absent"`
}

// node returns the node with the code of workflows.
func (c *call) node() (*runtime.Node, error) {
	if c.h.o.Node == nil {
		return nil, howTo(unsupported, "give the API a node on which the workflows are registered: Options.Node", "this API has no code of workflows")
	}
	return c.h.o.Node, nil
}

func queryRun(c *call) (any, error) {
	b := c.body.(*queryRequest)
	run, err := c.run()
	if err != nil {
		return nil, err
	}
	n, err := c.node()
	if err != nil {
		return nil, err
	}
	answer, err := runtime.Query(c.ctx, n, run, workflow.Query[json.RawMessage, json.RawMessage](b.Name), orNull(b.Argument))
	behind, earlier := errors.AsType[*runtime.BehindError](err)
	if err != nil && !earlier {
		if k, _ := kindOf(err); k == internal && c.ctx.Err() == nil {
			return nil, refuse(updateFailed, "%v", err) // by the handler
		}
		return nil, err
	}
	rec := c.answer(run, b.Name, answer)
	rec.Earlier(behind)
	return rec, nil
}

// answer is what a handler has returned.
func (c *call) answer(run journal.RunID, name string, value json.RawMessage) *record.Answer {
	return &record.Answer{Run: run.String(), Name: name, Answer: c.maker.Value(record.Source{Run: run, Kind: record.FromAnswer, Name: name}, value)}
}

// noQuery is the name of a query that no workflow has: asking it replays the history and ends with
// replay.ErrNoHandler if the code fits.
const noQuery workflow.Query[json.RawMessage, json.RawMessage] = "reprise: does the code fit?"

func replayRun(c *call) (any, error) {
	run, err := c.run()
	if err != nil {
		return nil, err
	}
	n, err := c.node()
	if err != nil {
		return nil, err
	}
	_, err = runtime.Query(c.ctx, n, run, noQuery, json.RawMessage("null"))
	_, undecided := errors.AsType[*replay.UndecidedError](err)
	if err != nil && !undecided && !errors.Is(err, replay.ErrNoHandler) {
		return nil, err
	}
	return &record.Replayed{Run: run.String(), Fits: true}, nil
}
