package bulk_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// TestRefused: what cannot be done is refused with what is wrong, and nothing is stored.
func TestRefused(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		e.Register(bulk.Handle)
		ctx, c := context.Background(), e.Client()
		for says, job := range map[string]bulk.Job{
			`verb "" is none of`:             {All: true},
			`verb "explode" is none of`:      {Verb: "explode", All: true},
			`point "" is none of`:            {Verb: bulk.Reset, All: true},
			"a point belongs to the verb":    {Verb: bulk.Retry, All: true, To: runtime.BeforeFailure},
			"of messages belongs to the":     {Verb: bulk.Edit, All: true, Step: "s", NoMessages: true},
			"cancelled by the verb pause":    {Verb: bulk.Resume, All: true, CancelSteps: true},
			"run again by the verb retry":    {Verb: bulk.Reset, All: true, To: runtime.RunStart, Again: true},
			"a proof belongs to the verbs":   {Verb: bulk.Retry, All: true, Unproven: true},
			"of children belongs to the":     {Verb: bulk.Fork, All: true, To: runtime.RunStart, KeepChildren: true},
			"a queue belongs to the verb":    {Verb: bulk.Reset, All: true, To: runtime.RunStart, Queue: "q"},
			"a version belongs to the verbs": {Verb: bulk.Edit, All: true, Step: "s", Version: 2},
			"an input belongs to the verbs":  {Verb: bulk.Skip, All: true, Message: "m", Input: json.RawMessage("1")},
			"results of steps belong to":     {Verb: bulk.Reset, All: true, To: runtime.RunStart, Results: map[string]json.RawMessage{"s": nil}},
			"a message belongs to the verb":  {Verb: bulk.Edit, All: true, Step: "s", Message: "m"},
			"another input, with events":     {Verb: bulk.Fork, All: true, To: runtime.BeforeStep("s"), Unproven: true, Input: json.RawMessage("1")},
			"another version, with events":   {Verb: bulk.Reset, All: true, To: runtime.BeforeStep("s"), Unproven: true, Version: 2},
			"start keeps no step":            {Verb: bulk.Fork, All: true, To: runtime.RunStart, Results: map[string]json.RawMessage{"s": json.RawMessage("1")}},
			"are found by the code":          {Verb: bulk.Reset, All: true, To: runtime.LatestFit, Unproven: true},
			"the input is no JSON":           {Verb: bulk.Reset, All: true, To: runtime.RunStart, Input: json.RawMessage("{")},
			`result of step "s" is no JSON`:  {Verb: bulk.Fork, All: true, To: runtime.BeforeFailure, Results: map[string]json.RawMessage{"s": json.RawMessage("{")}},
			"message":                        {Verb: bulk.Skip, All: true},
			"a step belongs to the verb":     {Verb: bulk.Reset, All: true, To: runtime.RunStart, Step: "s"},
			"so do all others":               {Verb: bulk.Fork, All: true, To: runtime.RunStart, Messages: []string{"m"}},
			"version -1":                     {Verb: bulk.Fork, All: true, To: runtime.RunStart, Version: -1},
			"queue":                          {Verb: bulk.Fork, All: true, To: runtime.RunStart, Queue: strings.Repeat("q", 256)},
			"step":                           {Verb: bulk.Edit, All: true},
			`signal or step "s" is no JSON`:  {Verb: bulk.Edit, All: true, Step: "s", Payload: json.RawMessage("{")},
			"it has no filter":               {Verb: bulk.Cancel},
			"has no condition":               {Verb: bulk.Cancel, Where: "  "},
			"a filter and All":               {Verb: bulk.Cancel, All: true, Where: "version = 1"},
			`column 1, at "statu = failed"`:  {Verb: bulk.Cancel, Where: "statu = failed"},
			"column 12":                      {Verb: bulk.Cancel, Where: "version = 1) or (version = 2"},
			`leave "order by" out`:           {Verb: bulk.Delete, Where: "version = 1 order by closed"},
			"exceed":                         {Verb: bulk.Cancel, Where: "version in (1" + strings.Repeat(", 1", 199) + ")"},
			"rate -1":                        {Verb: bulk.Cancel, All: true, Rate: -1},
			"rate NaN":                       {Verb: bulk.Cancel, All: true, Rate: math.NaN()},
			"rate +Inf":                      {Verb: bulk.Cancel, All: true, Rate: math.Inf(1)},
			"concurrency -1":                 {Verb: bulk.Cancel, All: true, Concurrency: -1},
			"concurrency 257":                {Verb: bulk.Cancel, All: true, Concurrency: 257},
			"signal":                         {Verb: bulk.Signal, All: true},
			"signal belongs to the verb":     {Verb: bulk.Cancel, All: true, Signal: "go"},
			"belongs to the verb signal":     {Verb: bulk.Pause, All: true, Payload: json.RawMessage("1")},
			`signal or step "go" is no JSON`: {Verb: bulk.Signal, All: true, Signal: "go", Payload: json.RawMessage("{")},
			"labels belong to the verb":      {Verb: bulk.Pause, All: true, RemoveLabels: []string{"a"}},
			"priority belongs to the verb":   {Verb: bulk.Pause, All: true, Priority: 1},
			"names no label":                 {Verb: bulk.SetLabels, All: true},
			`label "a" is both set and`:      {Verb: bulk.SetLabels, All: true, Labels: map[string]string{"a": "b"}, RemoveLabels: []string{"a"}},
			"label":                          {Verb: bulk.SetLabels, All: true, RemoveLabels: []string{""}},
			"bytes":                          {Verb: bulk.SetLabels, All: true, Labels: map[string]string{"a": strings.Repeat("x", 5000)}},
			"priority 0":                     {Verb: bulk.SetPriority, All: true},
			"255":                            {Verb: bulk.Signal, All: true, Signal: strings.Repeat("x", 256)},
		} {
			_, err := bulk.Start(ctx, c, job, nil)
			if !errors.Is(err, journal.ErrInvalid) && !errors.As(err, new(*journal.LimitError)) || !strings.Contains(err.Error(), says) {
				e.Errorf("started %+v: %v, want %q", job, err, says)
			}
			if _, _, again := bulk.Count(ctx, c, job); again == nil || err != nil && again.Error() != err.Error() {
				e.Errorf("counted %+v: %v, want the error of a start", job, again)
			}
		}
		wantFound(e, c, "", 0)
	})
}
