package api

import (
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/record"
)

func amendOperations() []*operation {
	return []*operation{
		{method: http.MethodPost, path: "/runs/{run}/skip", verbs: []string{"run skip"}, writes: true, params: []param{dryRun}, body: reflect.TypeFor[skipRequest](),
			answer: reflect.TypeFor[record.Rewound](), summary: "Leave a message out of a run for good.", do: skipMessage},
		{method: http.MethodPost, path: "/runs/{run}/edit", verbs: []string{"run edit"}, writes: true, params: []param{dryRun}, body: reflect.TypeFor[editRequest](),
			answer: reflect.TypeFor[record.Rewound](), summary: "Give a step of a run a result, instead of what it has.", do: editStep},
	}
}

// skipRequest is the body of a skip.
type skipRequest struct {
	Message      int64  `json:"message" doc:"number of the message in the run's inbox"`
	Reason       string `json:"reason,omitempty" doc:"why, for the audit"`
	Unproven     bool   `json:"unproven,omitempty" doc:"do not replay what is kept; the run blocks if its code does not fit"`
	KeepChildren bool   `json:"keep_children,omitempty" doc:"do not cancel children whose start is taken back"`
}

// editRequest is the body of an edit.
type editRequest struct {
	Step         string          `json:"step" doc:"step:NAME, cmd:N or event:N"`
	Result       json.RawMessage `json:"result" doc:"the result that the step has from now on"`
	Reason       string          `json:"reason,omitempty" doc:"why, for the audit"`
	Unproven     bool            `json:"unproven,omitempty" doc:"do not replay what is kept; the run blocks if its code does not fit"`
	KeepChildren bool            `json:"keep_children,omitempty" doc:"do not cancel children whose start is taken back"`
}

func skipMessage(c *call) (any, error) {
	b := c.body.(*skipRequest)
	if b.Message < 1 {
		return nil, refuse(invalidRequest, "field %q is not the number of a message: %d", "message", b.Message)
	}
	run, err := c.ownRun()
	if err != nil {
		return nil, err
	}
	o := &runtime.AmendOptions{Reason: b.Reason, Proof: c.h.proof(b.Unproven), Unproven: b.Unproven, KeepChildren: b.KeepChildren, DryRun: c.flag(dryRun.name)}
	out, err := runtime.SkipMessage(c.ctx, c.h.client, run, journal.InboxSeq(b.Message), o)
	return c.rewound(out, "skipped", err)
}

func editStep(c *call) (any, error) {
	b := c.body.(*editRequest)
	step, err := record.ParseStep(b.Step)
	if err != nil {
		return nil, refuse(invalidRequest, "field %q: %v", "step", err)
	}
	run, err := c.ownRun()
	if err != nil {
		return nil, err
	}
	o := &runtime.AmendOptions{Reason: b.Reason, Proof: c.h.proof(b.Unproven), Unproven: b.Unproven, KeepChildren: b.KeepChildren, DryRun: c.flag(dryRun.name)}
	out, err := runtime.EditStep(c.ctx, c.h.client, run, step, b.Result, o)
	return c.rewound(out, "edited", err)
}
