package bulk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// TestKey: a second start with a key returns the first job, open or ended, if it does the same to
// the same runs, however fast and whyever. Another job is refused, with what the first one does.
func TestKey(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		e.Register(bulk.Handle)
		ctx, c, o := context.Background(), e.Client(), &bulk.Options{Key: "night"}
		startParcels(e, c, "7", 3)
		job := bulk.Job{Verb: bulk.SetLabels, Where: `shop = "7"`, Labels: map[string]string{"a": "b", "c": "d"}, Reason: "sorted", Rate: 0.1}
		if found, err := bulk.ByKey(ctx, c, job, "night"); found != nil || err != nil {
			e.Errorf("before the start the key has %v, %v", found, err)
		}
		first, err := bulk.Start(ctx, c, job, o)
		clustertest.MustStart(e, first, err)
		same := job
		same.Reason, same.Rate, same.Concurrency = "again", 5, 3
		const does, differs = `set-labels runs where shop = "7"`, `, as {"verb":"set-labels","where":"shop = \"7\"","labels":{"a":"b","c":"d"}}, and not as {`
		others := []struct {
			job  bulk.Job
			says string
		}{
			{bulk.Job{Verb: bulk.Terminate, Where: job.Where}, does},
			{bulk.Job{Verb: job.Verb, Where: `shop = "8"`, Labels: job.Labels}, does},
			{bulk.Job{Verb: job.Verb, All: true, Labels: job.Labels}, does},
			{bulk.Job{Verb: job.Verb, Where: job.Where, Labels: map[string]string{"a": "b"}}, does + differs},
			{bulk.Job{Verb: job.Verb, Where: job.Where, Labels: job.Labels, RemoveLabels: []string{"e"}}, does + differs},
		}
		for _, status := range []journal.Status{journal.Open, journal.Completed} {
			if status != journal.Open {
				clustertest.MustResult(e, first)
			}
			found, err := bulk.ByKey(ctx, c, same, "night")
			if err != nil || found == nil || found.ID != first.ID() || found.Status != status {
				e.Errorf("the same job, %s, is %+v, %v", status, found, err)
			}
			second, err := bulk.Start(ctx, c, same, o)
			if err != nil || second.ID() != first.ID() || second.Created() {
				e.Errorf("the second start made %v, %v", second, err)
			}
			for _, other := range others {
				_, asked := bulk.ByKey(ctx, c, other.job, "night")
				_, started := bulk.Start(ctx, c, other.job, o)
				for _, err := range []error{asked, started} {
					got := clustertest.WantError[*bulk.KeyError](e, err)
					if got.Run != first.ID() || got.Key != "night" || got.Job.Verb != job.Verb || !strings.Contains(err.Error(), other.says) {
						e.Errorf("%+v is refused with %v, want %q", other.job, err, other.says)
					}
					clustertest.WantError[*journal.KeyConflictError](e, err)
				}
			}
		}
		wantFound(e, c, fmt.Sprintf("workflow = %q", bulk.Workflow), 1)
	})
}

// TestKeyOfAnotherWorkflow: a key that a run of another workflow has is refused, and so is what no
// run can have.
func TestKeyOfAnotherWorkflow(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		e.Register(bulk.Handle)
		ctx, c, job := context.Background(), e.Client(), bulk.Job{Verb: bulk.Cancel, All: true}
		run, err := runtime.Start(ctx, c, workflow.Name[int, string]("parcel"), 1, &runtime.StartOptions{Key: "night"})
		clustertest.MustStart(e, run, err)
		_, asked := bulk.ByKey(ctx, c, job, "night")
		_, started := bulk.Start(ctx, c, job, &bulk.Options{Key: "night"})
		for _, err := range []error{asked, started} {
			if got := clustertest.WantError[*journal.KeyConflictError](e, err); got.Workflow != "parcel" || errors.As(err, new(*bulk.KeyError)) {
				e.Errorf("refused with %v", err)
			}
		}
		if _, err := bulk.ByKey(ctx, c, job, "~mine"); !errors.Is(err, journal.ErrInvalid) {
			e.Errorf("a key of the engine's own: %v", err)
		}
		if found, err := bulk.ByKey(ctx, c, job, ""); found != nil || err != nil {
			e.Errorf("no key has %v, %v", found, err)
		}
	})
}

// TestKeyOfAPayload: a payload is compared by its meaning as JSON, whatever its spaces.
func TestKeyOfAPayload(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		e.Register(bulk.Handle)
		job := bulk.Job{Verb: bulk.Signal, All: true, Signal: "go", Payload: json.RawMessage(`{"a": 1}`)}
		first, err := bulk.Start(context.Background(), e.Client(), job, &bulk.Options{Key: "go"})
		clustertest.MustStart(e, first, err)
		job.Payload = json.RawMessage("{\n\t\"a\":1}")
		if found, err := bulk.ByKey(context.Background(), e.Client(), job, "go"); err != nil || found == nil {
			e.Errorf("with other spaces it is %v, %v", found, err)
		}
		job.Payload = json.RawMessage(`{"a": 2}`)
		_, err = bulk.ByKey(context.Background(), e.Client(), job, "go")
		clustertest.WantError[*bulk.KeyError](e, err)
	})
}
