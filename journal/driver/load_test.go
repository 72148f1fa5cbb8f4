package driver_test

import (
	"context"
	"slices"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// loading is a store that notes how many histories it is asked for in one call.
type loading struct {
	driver.Store
	calls []int
}

func (s *loading) Load(_ context.Context, requests []driver.LoadRequest) ([]driver.History, error) {
	s.calls = append(s.calls, len(requests))
	list := make([]driver.History, len(requests))
	for i := range requests {
		list[i].Run.ID = requests[i].Run
	}
	return list, nil
}

// A store is asked in one call for pages that have so many bytes together, and for so many
// histories. The answers come in the order of the requests.
func TestACallForPagesIsBounded(t *testing.T) {
	for name, test := range map[string]struct {
		request driver.LoadRequest
		n       int
		calls   []int
	}{
		"whole pages":     {driver.LoadRequest{}, 10, []int{4, 4, 2}},
		"half pages":      {driver.LoadRequest{Bytes: driver.LoadBytesMax / 2}, 10, []int{8, 2}},
		"too large pages": {driver.LoadRequest{Bytes: 1 << 40}, 5, []int{4, 1}},
		"small pages":     {driver.LoadRequest{Bytes: 1}, 2*journal.BatchMax + 1, []int{journal.BatchMax, journal.BatchMax, 1}},
		"answers":         {driver.LoadRequest{Answer: 1}, 130, []int{128, 2}},
		"none":            {driver.LoadRequest{}, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			requests := slices.Repeat([]driver.LoadRequest{test.request}, test.n)
			for i := range requests {
				requests[i].Run = journal.NewRunID()
			}
			store := &loading{}
			list, err := driver.New(store, nil).Load(t.Context(), requests)
			if err != nil || !slices.Equal(store.calls, test.calls) {
				t.Errorf("%v, calls for %v histories, want %v", err, store.calls, test.calls)
			}
			if !slices.EqualFunc(list, requests, func(h driver.History, q driver.LoadRequest) bool { return h.Run.ID == q.Run }) {
				t.Error("the answers are not those to the requests")
			}
		})
	}
}
