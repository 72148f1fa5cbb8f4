package temporal

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/reprise-run/reprise/replay/workflow"
)

// A Cluster lends machines. Its update handlers execute steps, so several run at once; a mutex
// keeps two of them from lending the same machine. It continues as new when no handler runs, and
// the next generation answers the updates that arrive meanwhile.
const (
	Cluster  workflow.Name[Machines, Machines]   = "cluster"
	Lend     workflow.Update[Job, string]        = "cluster.lend"
	Return   workflow.Update[string, struct{}]   = "cluster.return"
	Shutdown workflow.Signal[struct{}]           = "cluster.shutdown"
	Lent     workflow.Query[struct{}, []Machine] = "cluster.lent"
)

// Machines maps each machine to the one who has it, or to "".
type Machines map[string]string

// Machine is a machine and who has it.
type Machine struct{ Name, Job string }

// Job wants a machine.
type Job struct{ Name string }

var errNoMachine = errors.New("all machines are lent")

// operator prepares a machine for a job, which takes a while.
type operator func(ctx context.Context, machine, job string) error

func (o operator) cluster(ctx workflow.Context, all Machines) (Machines, error) {
	var lending workflow.Mutex
	answered := 0
	Lent.Handle(ctx, func(struct{}) ([]Machine, error) { return lent(all), nil })
	Lend.Handle(ctx, func(ctx workflow.Context, j Job) (string, error) {
		if err := lending.Lock(ctx); err != nil {
			return "", err
		}
		defer lending.Unlock()
		defer func() { answered++ }()
		for _, name := range slices.Sorted(maps.Keys(all)) { // a map has no order that replay could repeat
			if all[name] == j.Name {
				return name, nil // asked before
			}
		}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if all[name] == "" {
				err := workflow.Do(ctx, "prepare", func(ctx context.Context) error { return o(ctx, name, j.Name) }, nil)
				if err == nil {
					all[name] = j.Name
				}
				return name, err
			}
		}
		return "", errNoMachine
	}, nil)
	Return.Handle(ctx, func(_ workflow.Context, name string) (struct{}, error) {
		all[name] = ""
		return struct{}{}, nil
	}, &workflow.UpdateOptions[string]{Validate: func(name string) error {
		if all[name] == "" {
			return errors.New("nobody has it")
		}
		return nil
	}})

	for Shutdown.Pending(ctx) == 0 && !ctx.ShouldContinue() {
		before := answered
		if err := workflow.Await(ctx, func() bool { return Shutdown.Pending(ctx) > 0 || answered != before }); err != nil {
			return all, err
		}
	}
	if err := workflow.HandlersFinished(ctx); err != nil || Shutdown.Pending(ctx) > 0 {
		return all, err
	}
	return nil, workflow.ContinueAsNew(ctx, Cluster, all, nil)
}

func lent(all Machines) (list []Machine) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] != "" {
			list = append(list, Machine{name, all[name]})
		}
	}
	return list
}
