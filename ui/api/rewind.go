package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/record"
)

func rewindOperations() []*operation {
	dry := []param{dryRun}
	return []*operation{
		{method: http.MethodPost, path: "/runs/{run}/retry", verbs: []string{"run retry"}, writes: true, params: dry, body: reflect.TypeFor[retryRequest](),
			answer: reflect.TypeFor[record.Rewound](), summary: "Let a closed run go on from before its failure.", do: retryRun},
		{method: http.MethodPost, path: "/runs/{run}/reset", verbs: []string{"run reset"}, writes: true, params: dry, body: reflect.TypeFor[resetRequest](),
			answer: reflect.TypeFor[record.Rewound](), summary: "Let a run go on from an earlier point of its history.", do: resetRun},
		{method: http.MethodPost, path: "/runs/{run}/fork", verbs: []string{"run fork"}, writes: true, params: dry, body: reflect.TypeFor[forkRequest](),
			answer: reflect.TypeFor[record.Forked](), summary: "Begin another run at a point of a run's history.", do: forkRun},
	}
}

// retryRequest is the body of a retry.
type retryRequest struct {
	Reason string `json:"reason,omitempty" doc:"why, for the audit"`
	Again  bool   `json:"again,omitempty" doc:"also if steps have completed since the failure"`
}

// resetRequest is the body of a reset.
type resetRequest struct {
	Point           string          `json:"point" doc:"event:N, step:NAME, failure, generation, start or fits"`
	Reason          string          `json:"reason,omitempty" doc:"why, for the audit"`
	Unproven        bool            `json:"unproven,omitempty" doc:"do not replay what is kept; the run blocks if its code does not fit"`
	NoMessages      bool            `json:"no_messages,omitempty" doc:"leave out signals and updates that what is kept has not consumed"`
	Messages        []string        `json:"messages,omitempty" doc:"with no_messages: names of signals and updates that come again all the same"`
	KeepChildren    bool            `json:"keep_children,omitempty" doc:"do not cancel children that were started behind the point"`
	Input           json.RawMessage `json:"input,omitempty" doc:"with generation or start: another input"`
	WorkflowVersion int32           `json:"workflow_version,omitempty" doc:"with generation or start: another version of the workflow"`
}

// forkRequest is the body of a fork.
type forkRequest struct {
	Point           string                     `json:"point" doc:"event:N, step:NAME, failure, generation, start or fits"`
	Reason          string                     `json:"reason,omitempty" doc:"why, for the audit"`
	Key             string                     `json:"key,omitempty" doc:"key of the fork; without it the fork has none"`
	Queue           string                     `json:"queue,omitempty" doc:"another queue"`
	WorkflowVersion int32                      `json:"workflow_version,omitempty" doc:"another version of the workflow"`
	Input           json.RawMessage            `json:"input,omitempty" doc:"with generation or start: another input"`
	Results         map[string]json.RawMessage `json:"results,omitempty" doc:"other results of steps, by the numbers of the events that have their outcomes"`
	Unproven        bool                       `json:"unproven,omitempty" doc:"do not replay what is kept; the fork blocks if its code does not fit"`
	NoMessages      bool                       `json:"no_messages,omitempty" doc:"leave out signals and updates that what is kept has not consumed"`
	Messages        []string                   `json:"messages,omitempty" doc:"with no_messages: names of signals and updates that the fork gets all the same"`
}

// ownRun finds the run of the path for a verb that changes what its code has done: none of the
// runtime's own.
func (c *call) ownRun() (journal.RunID, error) {
	run, err := c.run()
	if err == nil {
		err = c.ordinary(run)
	}
	return run, err
}

// proof is the node that proves what is kept, nil for none.
func (h *handler) proof(unproven bool) *runtime.Node {
	if unproven {
		return nil
	}
	return h.o.Node
}

// other is another input, nil for that of the run.
func other(input json.RawMessage) any {
	if len(input) == 0 {
		return nil
	}
	return input
}

// went is what was done, or nothing.
func (c *call) went(done string) string {
	if c.flag(dryRun.name) {
		return record.Nothing
	}
	return done
}

func retryRun(c *call) (any, error) {
	b := c.body.(*retryRequest)
	run, err := c.ownRun()
	if err != nil {
		return nil, err
	}
	out, err := c.h.client.Retry(c.ctx, run, &runtime.RetryOptions{Reason: b.Reason, Again: b.Again, DryRun: c.flag(dryRun.name)})
	return c.rewound(out, "retried", err)
}

func (c *call) rewound(out *runtime.Rewinding, done string, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	rec := c.maker.Rewound(out, c.went(done))
	return &rec, nil
}

func resetRun(c *call) (any, error) {
	b := c.body.(*resetRequest)
	run, err := c.ownRun()
	if err != nil {
		return nil, err
	}
	out, err := c.h.client.Reset(c.ctx, run, runtime.Point(b.Point), &runtime.ResetOptions{Reason: b.Reason, Input: other(b.Input), Version: b.WorkflowVersion,
		Proof: c.h.proof(b.Unproven), Unproven: b.Unproven, NoMessages: b.NoMessages, Messages: b.Messages, KeepChildren: b.KeepChildren, DryRun: c.flag(dryRun.name)})
	return c.rewound(out, "reset", err)
}

func forkRun(c *call) (any, error) {
	b := c.body.(*forkRequest)
	results := map[journal.Seq]any{}
	for number, value := range b.Results {
		n, err := strconv.ParseInt(number, 10, 32)
		if err != nil || n < 1 {
			return nil, refuse(invalidRequest, "field %q names %q, which is not the number of an event", "results", number)
		}
		results[journal.Seq(n)] = value
	}
	run, err := c.ownRun()
	if err != nil {
		return nil, err
	}
	out, err := c.h.client.Fork(c.ctx, run, runtime.Point(b.Point), &runtime.ForkOptions{Reason: b.Reason, Key: b.Key, Queue: b.Queue, Version: b.WorkflowVersion,
		Input: other(b.Input), Results: results, Proof: c.h.proof(b.Unproven), Unproven: b.Unproven, NoMessages: b.NoMessages, Messages: b.Messages, DryRun: c.flag(dryRun.name)})
	if err != nil {
		return nil, err
	}
	if !out.Run.IsZero() {
		c.code = http.StatusCreated
	}
	rec := c.maker.Forked(out, c.went("forked"))
	return &rec, nil
}
