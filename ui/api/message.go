package api

import (
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/record"
)

func messageOperations() []*operation {
	return []*operation{
		{method: http.MethodPost, path: "/runs/{run}/signal", verbs: []string{"run signal"}, writes: true, body: reflect.TypeFor[signalRequest](),
			answer: reflect.TypeFor[record.Sent](), summary: "Send a signal to an open run.", do: signalRun},
		{method: http.MethodPost, path: "/runs/{run}/update", verbs: []string{"run update"}, writes: true, body: reflect.TypeFor[updateRequest](),
			answer: reflect.TypeFor[record.Answer](), summary: "Send an update to an open run and wait for its answer.", do: updateRun},
		{method: http.MethodPost, path: "/runs/{run}/cancel", verbs: []string{"run cancel"}, writes: true, body: reflect.TypeFor[reasonRequest](),
			answer: reflect.TypeFor[record.Sent](), summary: "Ask an open run to cancel itself.", do: cancelRun},
	}
}

// signalRequest is the body of a signal.
type signalRequest struct {
	Name    string          `json:"name" doc:"name of the signal"`
	Payload json.RawMessage `json:"payload,omitempty" doc:"what it carries; null if it is absent"`
	Key     string          `json:"key,omitempty" doc:"a second signal with this key is dropped"`
}

// updateRequest is the body of an update.
type updateRequest struct {
	Name         string          `json:"name" doc:"name of the update"`
	Argument     json.RawMessage `json:"argument,omitempty" doc:"its argument; null if it is absent"`
	Key          string          `json:"key,omitempty" doc:"a second update with this key is the same one, and gets the same answer"`
	RefusePaused bool            `json:"refuse_paused,omitempty" doc:"send nothing if the run, its queue or its workflow is paused"`
}

// reasonRequest is the body of a verb that needs nothing but a reason.
type reasonRequest struct {
	Reason string `json:"reason,omitempty" doc:"why, for the audit; of a request to cancel, for the run's history"`
}

func signalRun(c *call) (any, error) {
	b := c.body.(*signalRequest)
	if err := ordinaryMessage(b.Name); err != nil {
		return nil, err
	}
	run, err := c.run()
	if err != nil {
		return nil, err
	}
	err = runtime.Signal(c.ctx, c.h.client, run, workflow.Signal[json.RawMessage](b.Name), orNull(b.Payload), &runtime.SignalOptions{Key: b.Key})
	return c.done(run, "signalled", err)
}

func updateRun(c *call) (any, error) {
	b := c.body.(*updateRequest)
	if err := ordinaryMessage(b.Name); err != nil {
		return nil, err
	}
	run, err := c.run()
	if err != nil {
		return nil, err
	}
	o := runtime.UpdateOptions{Key: b.Key, RefusePaused: b.RefusePaused}
	answer, err := runtime.CallUpdate(c.ctx, c.h.client, run, workflow.Update[json.RawMessage, json.RawMessage](b.Name), orNull(b.Argument), &o)
	if err != nil {
		return nil, err
	}
	return c.answer(run, b.Name, answer), nil
}

func cancelRun(c *call) (any, error) {
	run, err := c.run()
	if err != nil {
		return nil, err
	}
	return c.done(run, "cancel requested", c.h.client.Cancel(c.ctx, run, c.body.(*reasonRequest).Reason))
}
