package driver_test

import (
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
)

// TestChanges: who listens is told of what each call has changed, and of nothing after it has
// stopped.
func TestChanges(t *testing.T) {
	t.Parallel()
	store := memory.New(nil)
	defer store.Close()
	j := driver.New(store, nil)
	var told []driver.Change
	stop := j.Changes(func(c driver.Change) { told = append(told, c) })
	want := func(what string, list ...driver.Change) {
		t.Helper()
		if len(told) != len(list) {
			t.Fatalf("%s: %v was told, want %v", what, told, list)
		}
		for i := range list {
			if told[i] != list[i] {
				t.Errorf("%s: %v was told, want %v", what, told, list)
			}
		}
		told = nil
	}
	id := journal.NewRunID()
	start := journal.Start{ID: id, Workflow: "parcel", Key: "one"}
	if _, err := j.Start(t.Context(), nil, []journal.Start{start, {ID: journal.NewRunID()}}); err != nil {
		t.Fatal(err)
	}
	want("a start, and one that is refused", driver.Change{Run: id})
	if _, err := j.Send(t.Context(), nil, []journal.Message{{Run: id, Kind: journal.MessageSignal, Name: "scanned"}}); err != nil {
		t.Fatal(err)
	}
	want("a signal", driver.Change{Run: id})
	if _, err := j.Admin(t.Context(), driver.AdminAction{Kind: driver.AdminPause, Run: id}); err != nil {
		t.Fatal(err)
	}
	want("a pause", driver.Change{Run: id, Operator: true})
	if _, err := j.Admin(t.Context(), driver.AdminAction{Kind: driver.AdminPause, Scope: &journal.Scope{Queue: "default"}}); err != nil {
		t.Fatal(err)
	}
	want("a pause of a scope", driver.Change{Operator: true})
	stop()
	stop()
	if _, err := j.Start(t.Context(), nil, []journal.Start{{ID: journal.NewRunID(), Workflow: "parcel"}}); err != nil {
		t.Fatal(err)
	}
	want("nobody listens")
}
