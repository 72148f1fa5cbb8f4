package runtime

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
)

// LimitsFunc tells what a run needs of limits by its input and its labels: see [LimitsFrom].
type LimitsFunc struct {
	in  reflect.Type
	ask func(codec journal.Codec, input journal.Payload, labels map[string]string) ([]journal.LimitNeed, error)
}

// LimitsFrom makes a function of the input and the labels of a run into HandleOptions.LimitsFrom.
// Its result must follow from what it is given and nothing else: it is called when the run is
// started, and again before its first turn, where only limits that the run does not name yet are
// added. It should be quick, and must not change labels, which is nil for none. A panic of it
// refuses the start, or blocks the run until a repaired function is deployed.
func LimitsFrom[In any](fn func(in In, labels map[string]string) []journal.LimitNeed) LimitsFunc {
	ask := func(codec journal.Codec, input journal.Payload, labels map[string]string) (needs []journal.LimitNeed, err error) {
		var in In
		if codec.Decode(input, &in) != nil {
			return nil, nil // the run does not begin: its code is blocked by the same input, with the error
		}
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("HandleOptions.LimitsFrom panicked: %v", p)
			}
		}()
		return fn(in, maps.Clone(labels)), nil
	}
	if fn == nil {
		ask = nil
	}
	return LimitsFunc{reflect.TypeFor[In](), ask}
}

// runNeeds is what the runs of a route need of limits.
type runNeeds struct {
	fixed []journal.LimitNeed
	from  LimitsFunc
}

// setLimits notes what the runs of a route need.
func (r *registry) setLimits(route journal.Route, in reflect.Type, fixed []journal.LimitNeed, from LimitsFunc) error {
	fixed = slices.Clone(fixed)
	if err := journal.CheckLimitNeeds(fixed); err != nil {
		return fmt.Errorf("workflow %q: HandleOptions.Limits: %w", route.Workflow, err)
	}
	switch {
	case from.in != nil && from.ask == nil:
		return fmt.Errorf("workflow %q: the function of HandleOptions.LimitsFrom is nil", route.Workflow)
	case from.in != nil && from.in != in:
		return fmt.Errorf("workflow %q: HandleOptions.LimitsFrom is a function of %s, but the input is %s", route.Workflow, from.in, in)
	case len(fixed) == 0 && from.in == nil:
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.limits == nil {
		r.limits = map[journal.Route]runNeeds{}
	}
	if _, there := r.limits[route]; !there && !r.frozen { // else the registration is refused
		r.limits[route] = runNeeds{fixed, from}
	}
	return nil
}

// setQueueLimits notes what the runs of queues need.
func (r *registry) setQueueLimits(queues map[string][]journal.LimitNeed) error {
	for queue, needs := range queues {
		needs = slices.Clone(needs)
		if err := journal.CheckName("queue", queue); err != nil {
			return fmt.Errorf("NodeOptions.QueueLimits: %w", err)
		}
		if err := journal.CheckLimitNeeds(needs); err != nil {
			return fmt.Errorf("NodeOptions.QueueLimits of queue %q: %w", queue, err)
		}
		if r.queueLimits == nil {
			r.queueLimits = map[string][]journal.LimitNeed{}
		}
		r.queueLimits[queue] = needs
	}
	return nil
}

// needs returns all that a run needs if has, which comes with its start, is not all of it; else
// nil. It is of routes that are registered here: about others the node does not know.
func (r *registry) needs(
	codec journal.Codec, route journal.Route, input journal.Payload, labels map[string]string, has []journal.LimitNeed,
) ([]journal.LimitNeed, error) {
	r.mu.Lock()
	of, queue := r.limits[route], r.queueLimits[route.Queue]
	if len(queue) > 0 && (strings.HasPrefix(route.Workflow, "reprise.") || !slices.Contains(r.routes, route)) {
		queue = nil
	}
	r.mu.Unlock()
	if len(of.fixed)+len(queue) == 0 && of.from.ask == nil {
		return nil, nil
	}
	all := slices.Clone(has)
	add := func(list []journal.LimitNeed) {
		for _, n := range list {
			if !slices.ContainsFunc(all, func(o journal.LimitNeed) bool { return o.Name == n.Name }) {
				all = append(all, n)
			}
		}
	}
	if of.from.ask != nil {
		list, err := of.from.ask(codec, input, labels)
		if err == nil {
			list = slices.Clone(list)
			err = journal.CheckLimitNeeds(list)
		}
		if err != nil {
			return nil, fmt.Errorf("limits of workflow %q: %w", route.Workflow, err)
		}
		add(list)
	}
	add(of.fixed)
	add(queue)
	if len(all) == len(has) {
		return nil, nil
	}
	if err := journal.CheckLimitNeeds(all); err != nil {
		return nil, fmt.Errorf("limits of the start, of workflow %q and of queue %q together: %w", route.Workflow, route.Queue, err)
	}
	return all, nil
}

// needsOf is needs for the actors of a node.
func (r *registry) needsOf(codec journal.Codec) func(journal.Route, journal.Payload, map[string]string, []journal.LimitNeed) ([]journal.LimitNeed, error) {
	if len(r.limits)+len(r.queueLimits) == 0 {
		return nil
	}
	return func(route journal.Route, input journal.Payload, labels map[string]string, has []journal.LimitNeed) ([]journal.LimitNeed, error) {
		return r.needs(codec, route, input, labels, has)
	}
}
