package api

import (
	"context"
	"net/http"
	"reflect"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/ui/record"
)

func failureOperations() []*operation {
	return []*operation{
		{method: http.MethodGet, path: "/failures", verbs: []string{"run failures"}, summary: "Count failed, blocked and quarantined runs by workflow, version, class of the error and step, with an example of each.",
			params: append([]param{number("cap", "how many runs of each status are counted at most, those that were started last; default 10000, at most 100000, or 10000 with Options.Allow")}, filterParams...),
			answer: reflect.TypeFor[record.Failures](), do: listFailures},
	}
}

func listFailures(c *call) (any, error) {
	if err := c.may(c.op.verb(), nil); err != nil {
		return nil, err
	}
	limit := int64(record.FailuresMax)
	if c.h.o.Allow != nil {
		limit = scanMax
	}
	most := int(c.number("cap", record.FailuresDefault, 1, limit))
	f, err := c.filter()
	if err != nil {
		return nil, err
	}
	count := func(list func(journal.ListFilter) (journal.RunPage, error)) (any, error) {
		rec, err := record.FailuresOf(&c.maker, f, most, list, c.sees)
		if err != nil {
			return nil, err
		}
		return &rec, nil
	}
	if c.h.o.Allow != nil || c.h.o.Redact != nil { // what is shown depends on who asks
		return count(c.list)
	}
	return c.h.shared.get(c.ctx, "failures?"+c.query.Encode(), sharedFor, c.h.o.Timeout, func(ctx context.Context) (any, error) {
		return count(func(f journal.ListFilter) (journal.RunPage, error) { return c.h.client.List(ctx, f) })
	})
}
