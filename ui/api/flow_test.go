package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/replay/workflow/flow"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/flows"
	"github.com/reprise-run/reprise/ui/api"
	"github.com/reprise-run/reprise/ui/record"
)

// gifts is a flow of three nodes, one of which fails and one of which waits.
const gifts workflow.Name[string, flow.Results] = "gifts"

func giftFlow(thanks bool) *flow.Flow[string] {
	f := flow.New(gifts, nil)
	flow.Step(f, "wrap", f.Input(), func(_ context.Context, s string) (string, error) { return "wrapped " + s, nil }, nil)
	flow.Step(f, "bow", f.Input(), func(context.Context, string) (string, error) {
		return "", workflow.Permanent(errors.New("SECRET: no ribbon"))
	},
		&flow.Options{Exhausted: flow.Skip})
	card := flow.Wait(f, "card", workflow.Signal[string]("card"), nil)
	if thanks {
		flow.Step(f, "thanks", card, func(_ context.Context, s string) (string, error) { return s, nil }, nil)
	}
	return f
}

// gift starts a run of the flow and waits until only its signal is missing.
func (s *shop) gift() string {
	s.t.Helper()
	run, err := flows.Start(clustertest.Context(s.t), s.client, giftFlow(false), "book", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.parked(run.ID())
}

func nodesOf(d *record.Drawing) map[string]record.FlowNode {
	all := map[string]record.FlowNode{}
	for _, n := range d.Nodes {
		all[n.Name] = n
	}
	return all
}

// flowVerbs: shapes are listed and shown, and a run says where its nodes stand.
func (s *shop) flowVerbs() {
	id := s.gift()
	var list []record.Shape
	if s.must(http.StatusOK, "GET", "/flows", "", &list); len(list) != 1 || list[0].Flow != "gifts" {
		s.t.Fatalf("the flows are %+v", list)
	}
	var byHash, byName, of record.Drawing
	s.must(http.StatusOK, "GET", "/flows/"+list[0].Shape, "", &byHash)
	s.must(http.StatusOK, "GET", "/flows/gifts?as=dot", "", &byName)
	if len(byHash.Nodes) != 3 || byHash.Status != "" || byHash.Picture != "" || byName.Shape != byHash.Shape || !strings.HasPrefix(byName.Picture, "digraph") {
		s.t.Errorf("the flow is %+v and %+v", byHash, byName)
	}
	s.must(http.StatusOK, "GET", "/runs/"+id+"/flow?as=mermaid", "", &of)
	nodes := nodesOf(&of)
	if of.Status != "open" || of.Run != id || nodes["wrap"].Status != "completed" || nodes["card"].Status != "running" || !strings.HasPrefix(of.Picture, "flowchart") {
		s.t.Errorf("the run is %+v", of)
	}
	if bow := nodes["bow"]; bow.Status != "skipped" || bow.Reason != "handler_failed" || !strings.Contains(bow.Error, "no ribbon") || bow.EndedAt == nil {
		s.t.Errorf("the node that fails is %+v", bow)
	}
	s.refused("eva", "GET", "/flows/none", "", "not-found", `"none"`)
	s.refused("eva", "GET", "/flows/gifts?as=png", "", "invalid-request", `"png"`)
	s.refused("eva", "GET", "/runs/"+s.parked(s.start(parcel, nil))+"/flow", "", "not-found", "no flow whose shape is known")
}

// TestFlowsOfTheProgram: a flow of the program need not be stored, and what it has otherwise than a
// run is said.
func TestFlowsOfTheProgram(t *testing.T) {
	t.Parallel()
	changed := giftFlow(true).Shape()
	s := newShop(t, openMemory, func(o *api.Options) { o.Flows = []*flow.Shape{changed} })
	var d record.Drawing
	if s.must(http.StatusOK, "GET", "/flows/gifts", "", &d); len(d.Nodes) != 4 {
		t.Errorf("the flow of the program is %+v", d)
	}
	id := s.gift()
	if s.must(http.StatusOK, "GET", "/runs/"+id+"/flow", "", &d); len(d.Nodes) != 3 || len(d.Differs) != 1 || !strings.Contains(d.Differs[0], "thanks") {
		t.Errorf("the run is %+v", d)
	}
	if s.must(http.StatusOK, "GET", "/flows/"+changed.Hash(), "", &d); len(d.Nodes) != 4 {
		t.Errorf("the shape of the program is %+v", d)
	}
}

// TestFlowsHidden: shapes that an actor may not see are none for it, and errors of nodes are shown as
// those of steps are.
func TestFlowsHidden(t *testing.T) {
	t.Parallel()
	s := newShop(t, openMemory, func(o *api.Options) {
		o.Allow = func(_ context.Context, actor, _ string, run *journal.Run) bool {
			return actor == "eva" || run == nil || !strings.HasPrefix(run.Workflow, flows.WorkflowPrefix)
		}
		o.Redact = func(_ context.Context, _ string, from record.Source, p *record.Payload) *record.Payload {
			if from.Kind == record.FromStep && p.Failure != nil {
				return &record.Payload{Failure: &record.Failure{Message: "of " + from.Name}}
			}
			return p
		}
	})
	id := s.gift()
	var d record.Drawing
	s.must(http.StatusOK, "GET", "/runs/"+id+"/flow?as=mermaid", "", &d)
	if text, _ := json.Marshal(d); strings.Contains(string(text), "SECRET") || nodesOf(&d)["bow"].Error != "of bow" {
		t.Errorf("the run shows %s", text)
	}
	var list []record.Shape
	s.must(http.StatusOK, "GET", "/flows", "", &list)
	if got := s.ask("ada", "GET", "/flows", ""); got.body != "[]\n" {
		t.Errorf("ada is shown %s", got.body)
	}
	for _, flow := range []string{"gifts", list[0].Shape} {
		s.refused("ada", "GET", "/flows/"+flow, "", "not-found", flow)
	}
}
