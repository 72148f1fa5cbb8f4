package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/api"
	"github.com/reprise-run/reprise/ui/record"
)

// TestQueryByOtherCode: the answer of code that does not fit an event is of before that, and says
// so.
func TestQueryByOtherCode(t *testing.T) {
	t.Parallel()
	store := memory.New(nil)
	other := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: silent})
	runtime.Handle(other, parcel, func(ctx workflow.Context, _ string) (string, error) {
		where.Handle(ctx, func(string) (string, error) { return "on the scales", nil })
		if _, err := workflow.Step(ctx, "weigh", func(context.Context) (int, error) { return 7, nil }, nil); err != nil {
			return "", err
		}
		return workflow.Step(ctx, "measure", func(context.Context) (string, error) { return "", nil }, nil)
	}, nil)
	opened := func(testing.TB) (driver.Store, func(context.Context) ([]driver.Backlog, error)) { return store, nil }
	s := newShop(t, opened, func(o *api.Options) { o.Node = other })
	id := s.parked(s.start(parcel, nil))
	s.must(http.StatusOK, "POST", "/runs/"+id+"/signal", `{"name": "scanned", "payload": "eva"}`, nil)
	s.ended(id, "completed")
	var got record.Answer
	s.must(http.StatusOK, "POST", "/runs/"+id+"/query", `{"name": "where", "argument": ""}`, &got)
	if string(got.Answer) != `"on the scales"` || got.AsOf != 1 || !strings.Contains(got.Behind, "step measure") {
		t.Errorf("the query answers %s as of event %d, behind %q", got.Answer, got.AsOf, got.Behind)
	}
}
