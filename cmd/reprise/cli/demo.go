package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// The workflows of the demonstration. One of them goes through what its run is to show.
const (
	demoParcel   workflow.Name[parcel, string] = "demo.parcel"
	demoCustoms  workflow.Name[string, string] = "demo.customs"
	demoScanned  workflow.Signal[string]       = "scanned"
	demoCleared  workflow.Signal[string]       = "cleared"
	demoRedirect workflow.Update[string, bool] = "redirect"

	demoStage workflow.Query[struct{}, string] = "stage"
)

// parcel says what a run of the demonstration goes through.
type parcel struct {
	To   string `json:"to"`
	Fate string `json:"fate"` // the word of a demoState
}

// demoLater is longer than anybody looks at a demonstration.
const demoLater = 30 * 24 * time.Hour

// demoState is a state that a run can be in: how to bring one there, and how to see that it is.
type demoState struct {
	word  string
	start func(o *runtime.StartOptions)
	then  func(ctx context.Context, c *runtime.Client, run journal.RunID) error
	there func(e *runtime.Explanation) bool
}

// closedAs is there when the run has a status.
func closedAs(s journal.Status) func(*runtime.Explanation) bool {
	return func(e *runtime.Explanation) bool { return e.Run.Status == s }
}

// waitsFor is there when the parked run has a reason of a kind.
func waitsFor(kind runtime.ReasonKind) func(*runtime.Explanation) bool {
	return func(e *runtime.Explanation) bool {
		for _, r := range e.Reasons {
			if r.Kind == kind {
				return e.Run.Task != nil && e.Run.Task.Owner == 0
			}
		}
		return false
	}
}

// demoStates are the states in the order in which their runs are listed, oldest first. The first
// one is brought about without a node that executes runs.
var demoStates = []demoState{
	{word: "quarantined", there: func(e *runtime.Explanation) bool {
		return e.Run.Task != nil && e.Run.Task.State == journal.Quarantined
	}},
	{word: "completed", there: closedAs(journal.Completed)},
	{word: "failed", there: closedAs(journal.Failed)},
	{word: "cancelled", there: closedAs(journal.Cancelled), then: func(ctx context.Context, c *runtime.Client, run journal.RunID) error {
		return c.Cancel(ctx, run, "the customer has changed their mind")
	}},
	{word: "terminated", there: closedAs(journal.Terminated), then: func(ctx context.Context, c *runtime.Client, run journal.RunID) error {
		return c.Terminate(ctx, run, "the customer does not exist")
	}},
	{word: "signal", there: waitsFor(runtime.ReasonSignal)},
	{word: "timer", start: needsVan, there: waitsFor(runtime.ReasonTimer)},
	{word: "retry", there: func(e *runtime.Explanation) bool {
		return e.Run.Task != nil && e.Run.Task.Owner == 0 && len(e.Run.Task.Attempts) > 0
	}},
	{word: "child", there: waitsFor(runtime.ReasonChild)},
	{word: "blocked", there: func(e *runtime.Explanation) bool {
		return e.Run.Task != nil && e.Run.Task.State == journal.Blocked
	}},
	{word: "paused", there: func(e *runtime.Explanation) bool {
		return e.Run.Task != nil && e.Run.Task.Owner == 0 && e.Run.Task.State == journal.Paused
	}, then: func(ctx context.Context, c *runtime.Client, run journal.RunID) error {
		return c.Pause(ctx, run, &runtime.PauseOptions{Reason: "somebody looks for the address"})
	}},
	{word: "limited", start: needsVan, there: func(e *runtime.Explanation) bool { // the run that waits for its timer has the van
		return e.Run.Task != nil && e.Run.Task.State == journal.Limited
	}},
	{word: "delayed", start: func(o *runtime.StartOptions) { o.Delay = demoLater }, there: waitsFor(runtime.ReasonDelayed)},
	{word: "unserved", start: func(o *runtime.StartOptions) { o.Version = 2 }, there: waitsFor(runtime.ReasonUnserved)},
}

// demoVan is a limit of which the demonstration has one place.
const demoVan = "demo.van"

func needsVan(o *runtime.StartOptions) { o.Limits = []journal.LimitNeed{{Name: demoVan}} }

// registerDemo registers the code of the demonstration.
func registerDemo(n *runtime.Node) {
	runtime.Handle(n, demoParcel, deliver, nil)
	runtime.Handle(n, demoCustoms, func(ctx workflow.Context, to string) (string, error) {
		stamp, err := demoCleared.Receive(ctx)
		return stamp + " for " + to, err
	}, nil)
}

// deliver is the workflow of the demonstration.
func deliver(ctx workflow.Context, p parcel) (string, error) {
	workflow.Publish(ctx, "progress", map[string]string{"to": p.To, "stage": "accepted"})
	stage := "accepted"
	demoStage.Handle(ctx, func(struct{}) (string, error) { return stage, nil })
	demoRedirect.Handle(ctx, func(_ workflow.Context, to string) (bool, error) {
		p.To = to
		return true, nil
	}, &workflow.UpdateOptions[string]{Validate: func(to string) error {
		if to == "" {
			return errors.New("a parcel needs an address")
		}
		return nil
	}})
	label, err := workflow.Step(ctx, "label", func(context.Context) (string, error) {
		switch p.Fate {
		case "failed":
			return "", workflow.Permanent(errors.New("no such address"))
		case "retry":
			return "", errors.New("the printer is out of paper")
		}
		return "label for " + p.To, nil
	}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: demoLater, Max: demoLater}})
	if err != nil {
		return "", err
	}
	stage = "labelled"
	switch p.Fate {
	case "blocked":
		panic("a parcel without a weight")
	case "timer":
		err = workflow.Sleep(ctx, demoLater)
	case "child":
		_, err = workflow.Call(ctx, demoCustoms, p.To, nil)
	case "signal", "cancelled", "terminated", "paused":
		_, err = demoScanned.Receive(ctx)
	}
	return label, err
}

// plantedRecord is a run that the demonstration has made.
type plantedRecord struct {
	State string `json:"state" doc:"what the run shows: completed, failed, cancelled, terminated, signal, timer, retry, child, blocked, quarantined, paused, limited, delayed or unserved"`
	Run   string `json:"run" doc:"id of the run"`
	Key   string `json:"key" doc:"key of the run"`
}

var plantedColumns = []column[plantedRecord]{
	{"STATE", func(_ *printer, r *plantedRecord) string { return r.State }},
	{"RUN", func(_ *printer, r *plantedRecord) string { return r.Run }},
	{"KEY", func(_ *printer, r *plantedRecord) string { return r.Key }},
}

func demoVerb(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "demo", Short: "Plant a database with a run in every state", Args: cobra.NoArgs,
		Long: `Plant a database with a run in every state, to try the verbs on: a SQLite file, or a
schema in Postgres that has no runs yet. It takes some seconds: ten owners of the run that is
quarantined have to die.`,
		Example: `  reprise demo --store demo.db
  reprise run list --store demo.db
  reprise run why key=demo:retry --store demo.db`,
		RunE: a.run(a.openDemo, func(c *call, _ []string) error {
			page, err := c.client.List(c.ctx, journal.ListFilter{Limit: 1})
			if err != nil {
				return err
			}
			if len(page.Runs) > 0 {
				return failed(ExitRefused, "choose a new file, or an empty --schema", "the store holds runs already; nothing was planted")
			}
			list, err := c.plant()
			if err != nil {
				return err
			}
			return printList(c.out, plantedColumns, list)
		}),
	}
	return printing(c, "list of planted")
}

// openDemo opens a store for the demonstration. Tables of another release are somebody's own: they
// are not migrated for it.
func (a *app) openDemo(ctx context.Context) (Store, error) {
	there, err := a.openAny(ctx, toRead)
	if errors.Is(err, fs.ErrNotExist) {
		return a.openAny(ctx, toMigrate)
	}
	if err != nil {
		return nil, err
	}
	applied, pending, err := a.migrationsOf(ctx, there)
	there.Close()
	if err != nil {
		return nil, err
	}
	if len(applied) > 0 && len(pending) > 0 {
		return nil, failed(ExitRefused, "choose a new file, or an empty --schema", "the tables are those of another release; nothing was planted")
	}
	return a.openAny(ctx, toMigrate)
}

// plant runs a node until a run is in each state. What is to be quarantined is so before the node
// is there, which would execute it.
func (c *call) plant() (list []plantedRecord, err error) {
	runs := map[string]journal.RunID{}
	start := func(client *runtime.Client, s *demoState) error {
		o := &runtime.StartOptions{Key: "demo:" + s.word, Labels: map[string]string{"demo": s.word}}
		if s.start != nil {
			s.start(o)
		}
		run, err := runtime.Start(c.ctx, client, demoParcel, parcel{To: "1 Main Street", Fate: s.word}, o)
		if err != nil {
			return err
		}
		runs[s.word] = run.ID()
		list = append(list, plantedRecord{State: s.word, Run: run.ID().String(), Key: o.Key})
		if s.then != nil {
			return s.then(c.ctx, client, run.ID())
		}
		return nil
	}
	first := &demoStates[0]
	if err := start(c.client, first); err != nil {
		return nil, err
	}
	route := journal.Route{Queue: journal.DefaultQueue, Workflow: string(demoParcel), Version: 1}
	scan := func() error {
		return runtime.Signal(c.ctx, c.client, runs[first.word], demoScanned, "at the door", nil)
	}
	if err := quarantine(c, runs[first.word], route, scan); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(c.ctx)
	node := runtime.NewNode(c.journal.Journal, &runtime.NodeOptions{Name: "demo", Logger: silent})
	registerDemo(node)
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()
	defer func() {
		cancel()
		if e := <-ended; err == nil {
			err = e
		}
	}()
	if err := runtime.SetLimit(c.ctx, node.Client(), journal.Limit{Name: demoVan, Concurrency: 1}); err != nil {
		return nil, err
	}
	for i := range demoStates[1:] {
		if err := start(node.Client(), &demoStates[1+i]); err != nil {
			return nil, err
		}
	}
	return list, c.awaitDemo(runs)
}

// awaitDemo waits until every run is where it is to be.
func (c *call) awaitDemo(runs map[string]journal.RunID) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var missing []string
		for _, s := range demoStates {
			e, err := c.client.Why(c.ctx, runs[s.word])
			if err != nil {
				return err
			}
			if !s.there(e) {
				missing = append(missing, s.word)
			}
		}
		if len(missing) == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-c.ctx.Done():
			return fmt.Errorf("no run is %s yet: %w", strings.Join(missing, ", "), c.ctx.Err())
		}
	}
}
