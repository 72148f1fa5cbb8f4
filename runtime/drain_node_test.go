package runtime_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// TestDrainNode: a node that an operator drains hands its run back when the time for its step is up,
// and ends; the other node goes on with the run. The audit has it once.
func TestDrainNode(t *testing.T) {
	c, b := clustertest.New(t), newBelts()
	o := c.Options()
	o.Drain = 10 * time.Millisecond
	nodes := []*clustertest.Node{c.Run(o, b.handle), c.Run(o, b.handle)}
	client := runtime.NewClient(c.Journal, nil)
	ctx := drainContext(t)
	started, err := runtime.Start(ctx, client, belt, 1, nil)
	run := clustertest.MustStart(t, started, err)
	<-b.began
	owned := func(d *runtime.Description) bool { return d.Run.Task.Owner != 0 }
	node := clustertest.Described(t, client, run.ID(), "a node has it", owned).Run.Task.Owner
	if err := client.DrainNode(ctx, node+1_000); !errors.Is(err, journal.ErrNoNode) {
		t.Errorf("drain of a node that nobody knows: %v", err)
	}
	if err := client.DrainNode(ctx, node); err != nil {
		t.Fatal(err)
	}
	wantDrained(t, client, node)
	if !strings.Contains(c.Log.String(), "an operator wants this node to leave") {
		t.Error("the node does not say why it drains")
	}
	if name := <-b.began; name != "first" {
		t.Errorf("step %s begins on the other node", name)
	}
	if owner := clustertest.Described(t, client, run.ID(), "a node has it", owned).Run.Task.Owner; owner == node {
		t.Error("the run is on the node that was drained")
	}
	b.open <- nil
	b.open <- nil
	clustertest.MustResult(t, run)
	for _, n := range nodes {
		n.Stop()
	}
}

// TestDrainNodeOnSQLite: the node has no run, and leaves.
func TestDrainNodeOnSQLite(t *testing.T) {
	t.Parallel()
	n, stop := clustertest.SQLiteNode(t, filepath.Join(t.TempDir(), "reprise.db"), &clustertest.Log{}, newBelts().handle)
	clustertest.Until(t, "the node has joined", func() bool { return n.ID() != 0 })
	node := n.ID()
	if err := n.Client().DrainNode(drainContext(t), node); err != nil {
		t.Fatal(err)
	}
	wantDrained(t, n.Client(), node)
	stop()
}

func drainContext(t *testing.T) context.Context {
	return runtime.WithReason(runtime.WithActor(clustertest.Context(t), "eva"), "its disk fails")
}

// wantDrained: the node has left, and the audit says who wanted it.
func wantDrained(t *testing.T, client *runtime.Client, node journal.NodeID) {
	t.Helper()
	list, err := client.Audit(clustertest.Context(t), journal.AuditFilter{Verb: "drain"})
	if err != nil || len(list) != 1 || list[0].Actor != "eva" || list[0].Reason != "its disk fails" {
		t.Errorf("audit: %+v, %v", list, err)
	}
	if err := client.DrainNode(drainContext(t), node); !errors.Is(err, journal.ErrNoNode) {
		t.Errorf("drain of a node that has left: %v", err)
	}
}
