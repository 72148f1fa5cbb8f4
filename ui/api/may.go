package api

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/ui/record"
)

func mayOperations() []*operation {
	return []*operation{
		{method: http.MethodGet, path: "/may", verbs: []string{"may"}, answer: reflect.TypeFor[record.May](), do: mayBeside,
			summary: "Tell which verbs about no single run the actor may do, and which about a workflow and a queue. Those about a run are in its record.",
			params: []param{
				text("workflow", "for run start, workflow pause and resume, queue pause and resume: of this workflow"),
				number("version", "for the same: of this version of the workflow"),
				text("queue", "for the same: in this queue"),
			}},
	}
}

// mayBeside asks as the operations do: about no run, or about one of which no more is known than
// the request says. It refuses nobody, since it tells what would be refused.
func mayBeside(c *call) (any, error) {
	known := journal.Run{Workflow: c.text("workflow"), Version: int32(c.number("version", 0, 1, 1<<31-1)), Queue: c.text("queue")}
	if c.wrong != nil {
		return nil, c.wrong
	}
	rec := record.May{Verbs: []string{}}
	for _, op := range c.h.byName {
		if !op.writes || strings.HasPrefix(op.path, runPath) || strings.HasPrefix(op.path, schedulePath) {
			continue
		}
		var about *journal.Run
		if op.aboutScope() {
			run := known
			about = &run
		}
		for _, v := range op.verbs {
			if c.allows(v, about) {
				rec.Verbs = append(rec.Verbs, v)
			}
		}
	}
	slices.Sort(rec.Verbs)
	rec.Verbs = slices.Compact(rec.Verbs)
	return rec, nil
}

// schedulePath is where the operations about one schedule are, which is a run.
const schedulePath = "/schedules/{schedule}"

// aboutScope tells whether Allow gets what is known of a workflow and a queue.
func (op *operation) aboutScope() bool {
	return op.path == "/runs" || strings.HasPrefix(op.path, "/queues/{queue}") || strings.HasPrefix(op.path, "/workflows/{workflow}")
}
