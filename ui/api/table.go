package api

import (
	"net/http"
	"reflect"

	"github.com/reprise-run/reprise/ui/record"
)

// operations are all there are.
func operations() []*operation {
	var all []*operation
	for _, group := range [][]*operation{findOperations(), failureOperations(), overviewOperations(), readOperations(), timelineOperations(), streamOperations(), startOperations(), messageOperations(), adminOperations(),
		rewindOperations(), amendOperations(), scopeOperations(), fleetOperations(), bulkOperations(),
		viewOperations(), limitOperations(), scheduleOperations(), scheduleChangeOperations(), flowOperations(), mayOperations()} {
		all = append(all, group...)
	}
	return all
}

func streamOperations() []*operation {
	run, events := reflect.TypeFor[record.Run](), reflect.TypeFor[record.Event]()
	return []*operation{
		{method: http.MethodGet, path: "/runs/{run}/events", verbs: []string{"run watch"}, stream: watchRun,
			summary: "A run's events as they come, until it ends: event for each, run whenever its record has changed, end when it is closed, gone if it is deleted.",
			params:  []param{text("after", "only events behind this one: the id of an event of this stream, as Last-Event-ID has it")},
			events:  map[string]reflect.Type{"event": events, "run": run, "end": run, "gone": reflect.TypeFor[record.Sent](), "problem": reflect.TypeFor[Problem]()}},
		{method: http.MethodGet, path: "/events", verbs: []string{"run list"}, stream: watchAll,
			summary: "What changes in the first page of a list of runs, and nodes, pauses and audit. The first events say how all of it is.",
			params:  append([]param{number("limit", "how many runs the page has at most: 1 to 200; default 50")}, filterParams...),
			events: map[string]reflect.Type{"runs": reflect.TypeFor[record.Changes](), "nodes": reflect.TypeFor[[]record.Node](), "pauses": reflect.TypeFor[[]record.Pause](),
				"audit": reflect.TypeFor[[]record.Audit](), "problem": reflect.TypeFor[Problem]()}},
	}
}
