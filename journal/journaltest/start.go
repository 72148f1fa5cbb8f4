package journaltest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// One key, one run (J8). These checks start runs under one key from one caller and from many, over
// open and closed holders, with every policy, and count the runs.
var startChecks = []check{
	{"J8_64ConcurrentStartsOneKey", concurrentStarts},
	{"J8_ConcurrentBatchesWithTheSameKeysInAnyOrder", concurrentBatches},
	{"J8_DuplicatesInABatch", duplicatesInABatch},
	{"J8_ReusePolicies", reusePolicies},
	{"J8_ConcurrentReuse", concurrentReuse},
	{"J8_KeyConflict", keyConflict},
	{"J8_KeysAreExact", keysAreExact},
	{"J8_RunOwnedFromBirth", ownedFromBirth},
	{"J8_StartKeepsEveryField", startKeepsFields},
	{"J8_LargeBatch", largeStartBatch},
}

// Many starts with one key at the same moment make one run, and all callers get its id.
func concurrentStarts(k *kit) {
	const callers = 64
	var mu sync.Mutex
	created, ids := 0, map[journal.RunID]int{}
	k.together(callers, func(int) error {
		out, err := k.j.Start(k.ctx, nil, []journal.Start{{Workflow: flow, Key: "the key"}})
		if err != nil || out[0].Err != nil {
			return errors.Join(err, out[0].Err)
		}
		mu.Lock()
		defer mu.Unlock()
		ids[out[0].Run]++
		if out[0].Created {
			created++
		}
		return nil
	})
	if created != 1 || len(ids) != 1 {
		k.t.Errorf("%d callers created a run and got the ids %v, want one of each", created, ids)
	}
	k.same("runs", len(k.listAll(journal.ListFilter{})), 1)
}

// concurrentBatches: batches that take the same keys in opposite orders must not wait for each
// other in a circle.
func concurrentBatches(k *kit) {
	const callers, keys = 16, 20
	var mu sync.Mutex
	ids := map[string]journal.RunID{}
	k.together(callers, func(i int) error {
		batch := make([]journal.Start, keys)
		for n := range batch {
			key := n
			if i%2 == 1 {
				key = keys - 1 - n
			}
			batch[n] = journal.Start{Workflow: flow, Key: fmt.Sprint(key)}
		}
		out, err := k.j.Start(k.ctx, nil, batch)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for n, o := range out {
			if o.Err != nil {
				return o.Err
			}
			if id, ok := ids[batch[n].Key]; ok && id != o.Run {
				return fmt.Errorf("key %s led to %s and to %s", batch[n].Key, id, o.Run)
			}
			ids[batch[n].Key] = o.Run
		}
		return nil
	})
	k.same("runs", len(k.listAll(journal.ListFilter{})), keys)
}

// Two starts with one key in one call are one run, which the first of them makes.
func duplicatesInABatch(k *kit) {
	id := journal.NewRunID()
	out := k.starts(journal.Start{Key: "a"}, journal.Start{Key: "b"}, journal.Start{Key: "a"}, journal.Start{},
		journal.Start{Key: "a", Reuse: journal.ReuseAllow}, journal.Start{ID: id}, journal.Start{})
	for i, want := range []struct {
		same    int
		created bool
	}{{0, true}, {1, true}, {0, false}, {3, true}, {0, false}, {5, true}, {6, true}} {
		if out[i].Run != out[want.same].Run || out[i].Created != want.created {
			k.t.Errorf("start %d: %+v", i, out[i])
		}
	}
	k.same("the caller's own id", out[5].Run, id)
	k.same("runs", len(k.listAll(journal.ListFilter{})), 5)
}

// Each policy does what it says for each status that a holder of the key can have.
func reusePolicies(k *kit) {
	node := k.join(leaseLong).ID()
	fresh := map[journal.Reuse]map[journal.Status]bool{
		journal.ReuseReject: {},
		journal.ReuseAllow: {journal.Completed: true, journal.Failed: true, journal.Cancelled: true,
			journal.Terminated: true},
		journal.ReuseAllowIfFailed: {journal.Failed: true, journal.Cancelled: true, journal.Terminated: true},
	}
	kinds := []journal.Kind{journal.RunCompleted, journal.RunFailed, journal.RunCancelled, journal.RunTerminated}
	for reuse, allowed := range fresh {
		for _, kind := range kinds {
			name := fmt.Sprintf("policy %d after %s", reuse, kind)
			start := journal.Start{Key: name, Reuse: reuse}
			first := k.starts(start)[0]
			if second := k.starts(start)[0]; second.Run != first.Run || second.Created {
				k.t.Errorf("%s: the key of an open run led to %+v", name, second)
			}
			k.take(node, 1)[0].commit(closed, started(), ended(kind))
			status, _ := journal.StatusOf(kind)
			next := k.starts(start)[0]
			if next.Created != allowed[status] || (next.Run == first.Run) == allowed[status] {
				k.t.Errorf("%s: %+v, want a new run: %v", name, next, allowed[status])
			}
			if !next.Created {
				continue
			}
			if r := k.row(first.Run); r.Status != status {
				k.t.Errorf("%s: the old run is %s", name, r.Status)
			}
			if again := k.starts(journal.Start{Key: name})[0]; again.Run != next.Run {
				k.t.Errorf("%s: the key leads to %s, want the new run", name, again.Run)
			}
			k.take(node, 1)[0].commit(closed, started(), completed("1"))
		}
	}
}

// Many starts that may replace a closed run replace it once.
func concurrentReuse(k *kit) {
	const callers = 32
	o := k.takeStarted(k.join(leaseLong).ID(), journal.Start{Key: "k"})
	o.commit(closed, started(), completed("1"))
	var mu sync.Mutex
	created, ids := 0, map[journal.RunID]int{}
	k.together(callers, func(int) error {
		out, err := k.j.Start(k.ctx, nil, []journal.Start{{Workflow: flow, Key: "k", Reuse: journal.ReuseAllow}})
		if err != nil || out[0].Err != nil {
			return errors.Join(err, out[0].Err)
		}
		mu.Lock()
		defer mu.Unlock()
		ids[out[0].Run]++
		if out[0].Created {
			created++
		}
		return nil
	})
	if created != 1 || len(ids) != 1 || ids[o.run] > 0 {
		k.t.Errorf("%d callers created a run and got the ids %v, want one new run", created, ids)
	}
}

// takeStarted starts one run and claims it.
func (k *kit) takeStarted(node journal.NodeID, s journal.Start) *owner {
	k.t.Helper()
	k.starts(s)
	return k.take(node, 1)[0]
}

// A key that belongs to a run of another workflow is a conflict, which names that run.
func keyConflict(k *kit) {
	first := k.starts(journal.Start{Key: "k"})[0]
	out, err := k.j.Start(k.ctx, nil, []journal.Start{
		{Workflow: "other", Key: "k"}, {Workflow: "other", Key: "free"},
		{Workflow: "third", Key: "free"}, // conflicts with its neighbour
	})
	k.ok(err)
	k.ok(out[1].Err)
	for i, want := range map[int]journal.KeyConflictError{
		0: {Key: "k", Run: first.Run, Workflow: flow}, 2: {Key: "free", Run: out[1].Run, Workflow: "other"},
	} {
		var conflict *journal.KeyConflictError
		if !errors.As(out[i].Err, &conflict) || *conflict != want {
			k.t.Errorf("start %d: got %v, want %v", i, out[i].Err, &want)
		}
		if out[i].Created {
			k.t.Errorf("start %d was created", i)
		}
	}
	k.same("runs", len(k.listAll(journal.ListFilter{})), 2)
}

// Keys are compared byte by byte: case, spaces and trailing characters make a difference.
func keysAreExact(k *kit) {
	keys := []string{"a", "A", "a ", "ä", "a\u0308", "%", "_", "🙂", "\u200b", "a/b:c"}
	var batch []journal.Start
	for _, key := range keys {
		batch = append(batch, journal.Start{Key: key})
	}
	for i, o := range k.starts(batch...) {
		if !o.Created {
			k.t.Errorf("key %q was taken for another", keys[i])
		}
		k.same("key", k.row(o.Run).Key, keys[i])
	}
}

// A run may be owned from birth by a node that is alive. Of a node that has left it is free, or
// soon freed.
func ownedFromBirth(k *kit) {
	m, other := k.join(leaseLong), k.join(leaseLong)
	out := k.starts(journal.Start{Owner: m.ID()}, journal.Start{Key: "k", Owner: m.ID()})
	for _, o := range out {
		if !o.Owned || !o.Created {
			k.t.Fatalf("started %+v, want it owned", o)
		}
		task := k.row(o.Run).Task
		if task.Owner != m.ID() || task.Fence != journal.FenceAtBirth || task.Turn != 0 {
			k.t.Errorf("task %+v", task)
		}
	}
	k.nothingDue(other.ID())
	if again := k.starts(journal.Start{Key: "k", Owner: other.ID()})[0]; again.Owned || again.Created {
		k.t.Errorf("another node's start with the same key: %+v", again)
	}
	o := bornOwner(k, m.ID(), out[0].Run, journal.Payload{})
	o.commit(closed, started(), completed("1"))

	// A node that is gone owns nothing, or what it owns is taken from it.
	gone := k.join(leaseLong)
	k.ok(gone.Leave(k.ctx))
	lost := k.starts(journal.Start{Owner: gone.ID()})[0]
	k.eventually("the run of a node that is gone can be claimed", func() bool {
		if _, err := other.Reap(k.ctx, nil); err != nil {
			k.t.Fatal(err)
		}
		c := k.claim(other.ID(), 1)
		return len(c.Tasks) == 1 && c.Tasks[0].Run.ID == lost.Run
	})
}

// Every field of a start comes back with its run.
func startKeepsFields(k *kit) {
	route := journal.Route{Queue: "fast lane", Workflow: "wörk", Version: 7}
	node := k.join(leaseLong, route).ID()
	s := journal.Start{
		ID: journal.NewRunID(), Key: "k", Workflow: route.Workflow, Version: route.Version, Queue: route.Queue, Priority: 2,
		Labels: map[string]string{"tier": "gold", "ort": "Zürich", "empty": ""},
		Input:  journal.Payload{Encoding: "x/y", Data: []byte{0, 1, 255}}, Trace: "00-aa-bb-01",
		Headers: map[string]string{"tenant": "Zürich", "baggage": "a=1,b=2", "empty": ""}, Timeout: 90 * time.Minute, OnFailure: "wörk failed",
	}
	before := k.j.Now()
	out := k.starts(s)[0]
	row := k.row(s.ID)
	want := journal.Run{
		ID: s.ID, Key: s.Key, Workflow: s.Workflow, Version: s.Version, Queue: s.Queue, Priority: s.Priority,
		Labels: s.Labels, Input: s.Input, Trace: s.Trace, Generation: 1,
		Headers: s.Headers, Timeout: s.Timeout, OnFailure: s.OnFailure,
		CreatedAt: row.CreatedAt, StartAt: row.StartAt, Task: row.Task,
	}
	k.same("listed", row, want)
	if row.CreatedAt.Before(before.Add(-time.Minute)) || !row.StartAt.Equal(out.StartAt) || !row.StartAt.Equal(row.CreatedAt) {
		k.t.Errorf("created at %s, starts at %s, started %+v", row.CreatedAt, row.StartAt, out)
	}
	k.same("loaded", k.history(s.ID).Run, want)
	c, err := k.j.Claim(k.ctx, driver.ClaimRequest{Node: node, Routes: []journal.Route{route}, Max: 1, Chance: 7})
	k.ok(err)
	want.Task = nil
	k.same("claimed", c.Tasks[0].Run, want)
	k.same("claimed task", c.Tasks[0].Task, journal.Task{Run: s.ID, Generation: 1, Queue: s.Queue, Workflow: s.Workflow,
		Version: s.Version, Priority: 2, Owner: node, Fence: journal.Fence(0).Next(7)})
}

// The largest call is accepted, and every start has its outcome at its own place.
func largeStartBatch(k *kit) {
	batch := make([]journal.Start, 2*journal.BatchMax+1) // a Journal splits it
	for i := range batch {
		batch[i].Key = fmt.Sprint(i)
	}
	seen := map[journal.RunID]bool{}
	for _, o := range k.starts(batch...) {
		seen[o.Run] = true
	}
	k.same("runs", len(seen), len(batch))
}
