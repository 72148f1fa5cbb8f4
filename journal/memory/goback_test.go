package memory_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
)

// TestIncarnation: when the database goes back to before a node joined, another node gets its id. The
// first one, which does not know that, hears nothing of the second one's runs and writes none of them.
func TestIncarnation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first := memory.New(nil)
		second := first.Peer()
		route := journal.Route{Queue: "q", Workflow: "w", Version: 1}
		node := journal.Node{Name: "n", Routes: []journal.Route{route}, Lease: time.Minute}
		run := journal.Start{ID: journal.NewRunID(), Queue: route.Queue, Workflow: route.Workflow, Version: 1, Priority: 3}
		if _, err := first.Start(t.Context(), nil, []journal.Start{run}); err != nil {
			t.Fatal(err)
		}
		mark := first.Mark()
		old, err := first.Join(t.Context(), node)
		if err != nil {
			t.Fatal(err)
		}
		first.GoBack(mark)
		young, err := second.Join(t.Context(), node)
		if err != nil {
			t.Fatal(err)
		}
		if old.ID() != young.ID() {
			t.Fatalf("nodes %d and %d, want one number", old.ID(), young.ID())
		}
		r := driver.ClaimRequest{Node: young.ID(), Routes: node.Routes, Max: 1, Chance: 7}
		mine, err := second.Claim(t.Context(), r)
		if err != nil || len(mine.Tasks) != 1 {
			t.Fatal(mine, err)
		}
		r.Reconcile = true
		if c, err := first.Claim(t.Context(), r); err != nil || len(c.Tasks) > 0 || len(c.Attention) > 0 {
			t.Errorf("the first node is told of %v, attention %v, %v", c.Tasks, c.Attention, err)
		}
		c := driver.Commit{Run: run.ID, Node: old.ID(), Fence: mine.Tasks[0].Task.Fence, Generation: 1, Next: driver.Next{Kind: driver.NextPark}}
		if out, err := first.Commit(t.Context(), []driver.Commit{c}); err != nil || out[0].Err == nil {
			t.Errorf("the first node's commit: %+v, %v", out, err)
		}
		if out, err := second.Commit(t.Context(), []driver.Commit{c}); err != nil || out[0].Err != nil {
			t.Errorf("the second node's commit: %+v, %v", out, err)
		}
	})
}

// TestReapSparesTheNext: a process whose node is gone, because the database went back to before it
// joined, takes nothing from the node that has its number now.
func TestReapSparesTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first := memory.New(nil)
		second := first.Peer()
		route := journal.Route{Queue: "q", Workflow: "w", Version: 1}
		node := journal.Node{Name: "n", Routes: []journal.Route{route}, Lease: time.Minute}
		mark := first.Mark()
		join := func(s *memory.Store) driver.Membership {
			m, err := s.Join(t.Context(), node)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		old := join(first)
		first.GoBack(mark)
		young, again := join(second), join(first)
		if old.ID() != young.ID() || again.ID() == young.ID() {
			t.Fatalf("nodes %d, %d and %d", old.ID(), young.ID(), again.ID())
		}
		run := journal.Start{ID: journal.NewRunID(), Queue: route.Queue, Workflow: route.Workflow, Version: 1, Priority: 3, Owner: young.ID()}
		if out, err := second.Start(t.Context(), nil, []journal.Start{run}); err != nil || !out[0].Owned {
			t.Fatal(out, err)
		}
		if r, err := again.Reap(t.Context(), nil); err != nil || r.Tasks > 0 {
			t.Errorf("reaped %+v, %v", r, err)
		}
	})
}

// TestViewsGoBack: the views are those of the mark, and what is saved later does not change it.
func TestViewsGoBack(t *testing.T) {
	t.Parallel()
	s := memory.New(nil)
	defer s.Close()
	save := func(name string) {
		t.Helper()
		a := driver.AdminAction{Kind: driver.AdminSaveView, View: &journal.View{Name: name, Address: "runs"}}
		if _, err := s.Admin(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	save("a")
	mark := s.Mark()
	for range 2 {
		save("b")
		s.GoBack(mark)
		if list, err := s.Views(t.Context()); err != nil || len(list) != 1 || list[0].Name != "a" {
			t.Errorf("the views are %v, %v", list, err)
		}
	}
}
