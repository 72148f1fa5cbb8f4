package uitest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// PlantMany writes so many runs that no node executes: of a thousand ten are open, thirty have
// failed, two were cancelled, and the others have completed.
func (s *Server) PlantMany(t testing.TB, runs int) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // a million takes longer than a test's patience
	j := driver.New(s.store, nil)
	m, err := j.Join(ctx, journal.Node{Name: "history", Lease: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < runs; n += journal.BatchMax {
		count := min(journal.BatchMax, runs-n)
		starts, commits := make([]journal.Start, count), make([]driver.Commit, count)
		for i := range starts {
			starts[i] = manyStart(n+i, m.ID())
		}
		started, err := j.Start(ctx, nil, starts)
		if err != nil {
			t.Fatal(err)
		}
		for i := range started {
			if started[i].Err != nil {
				t.Fatal(started[i].Err)
			}
			commits[i] = manyCommit(n+i, started[i].Run, m.ID(), s.now())
		}
		out, err := j.Commit(ctx, commits)
		if err != nil {
			t.Fatal(err)
		}
		for i := range out {
			if out[i].Err != nil {
				t.Fatal(out[i].Err)
			}
		}
	}
	if err := m.Leave(ctx); err != nil {
		t.Fatal(err)
	}
}

func manyStart(n int, owner journal.NodeID) journal.Start {
	name := []string{"refund", "order", "order"}[n%3]
	return journal.Start{Key: fmt.Sprintf("order-%d", n), Workflow: name, Version: int32(1 + n%3), Queue: longQueue, Owner: owner,
		Labels: map[string]string{"region": []string{"de", "fr", "it"}[n%3], "total": fmt.Sprint(n % 5000)}}
}

// manyCommit is the first turn of a run, and for most the last one.
func manyCommit(n int, run journal.RunID, node journal.NodeID, at time.Time) driver.Commit {
	c := driver.Commit{Run: run, Node: node, Fence: journal.FenceAtBirth, Generation: 1}
	c.Head.Link = journal.OriginOf(run, 1, 0, journal.Payload{})
	events := []journal.Event{{Seq: 1, Kind: journal.RunStarted, Time: at}}
	c.Next.Kind = driver.NextClose
	failure := journal.Failure{Type: fmt.Sprintf("class%d", n%1000), Message: "the parcel is lost"}
	switch of := n % 1000; {
	case of < 10:
		c.Next.Kind = driver.NextPark
	case of < 40:
		events = append(events, journal.Event{Seq: 2, Kind: journal.RunFailed, Time: at, Payload: journal.EncodeFailure(&failure)})
	case of < 42:
		events = append(events, journal.Event{Seq: 2, Kind: journal.RunCancelled, Time: at, Payload: journal.EncodeFailure(&failure)})
	default:
		events = append(events, journal.Event{Seq: 2, Kind: journal.RunCompleted, Time: at, Payload: journal.Payload{Encoding: journal.EncodingJSON, Data: []byte("true")}})
	}
	link := c.Head.Link
	for i := range events {
		events[i].Link = events[i].LinkAfter(link)
		link = events[i].Link
	}
	c.Events = events
	return c
}
