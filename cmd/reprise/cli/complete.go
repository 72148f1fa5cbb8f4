package cli

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
)

// Completion asks the store, which must not hold up whoever types: after completeTime there is
// nothing to offer, and whatever goes wrong is not said.
const (
	completeTime = 2 * time.Second
	completeRuns = 50 // the newest that begin with what was typed
)

// completion is cobra's type of functions that complete an argument or the value of a flag.
type completion = func(c *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective)

// completeFirst completes the first argument only.
func (a *app) completeFirst(first completion) completion {
	return func(c *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault // @FILE
		}
		return first(c, args, toComplete)
	}
}

// offer asks the store for what can be completed.
func (a *app) offer(cmd *cobra.Command, find func(c *call) ([]cobra.Completion, error)) ([]cobra.Completion, cobra.ShellCompDirective) {
	base := cmd.Context()
	if base == nil {
		base = context.Background()
	}
	ctx, cancel := context.WithTimeout(base, completeTime)
	defer cancel()
	s, err := a.openFor(ctx, toRead)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer s.Close()
	list, err := find(a.call(ctx, cmd, s))
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// newest returns the newest runs.
func (c *call) newest() ([]journal.Run, error) {
	page, err := c.client.List(c.ctx, journal.ListFilter{Limit: completeRuns})
	c.out.now = page.Now
	return page.Runs, err
}

// completeWorkflows offers what live nodes serve, and what the newest runs are of.
func (a *app) completeWorkflows(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.completeNames(cmd, func(r *journal.Run) []string { return []string{r.Workflow} }, func(r journal.Route) string { return r.Workflow })
}

func (a *app) completeQueues(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.completeNames(cmd, func(r *journal.Run) []string { return []string{r.Queue} }, func(r journal.Route) string { return r.Queue })
}

func (a *app) completeLabels(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.completeNames(cmd, func(r *journal.Run) (pairs []string) {
		for name, value := range r.Labels {
			pairs = append(pairs, name+"="+value)
		}
		return pairs
	}, nil)
}

func (a *app) completeNames(cmd *cobra.Command, ofRun func(*journal.Run) []string, ofRoute func(journal.Route) string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.offer(cmd, func(c *call) ([]cobra.Completion, error) {
		names := map[string]bool{}
		runs, err := c.newest()
		if err != nil {
			return nil, err
		}
		for i := range runs {
			for _, name := range ofRun(&runs[i]) {
				names[name] = true
			}
		}
		if ofRoute != nil {
			nodes, err := c.store.Nodes(c.ctx)
			if err != nil {
				return nil, err
			}
			for _, n := range nodes {
				for _, r := range n.Routes {
					names[ofRoute(r)] = true
				}
			}
		}
		return slices.Sorted(maps.Keys(names)), nil
	})
}
