package schedule_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/schedule"
)

// many is a set of n schedules, which have more bytes than one message may have.
func many(n int) schedule.Set {
	s := schedule.Set{}
	for i := range n {
		c := every(fmt.Sprint("s", i), 24*time.Hour, job{})
		c.Note = strings.Repeat("x", 100)
		s.Schedules = append(s.Schedules, c)
	}
	return s
}

// serveSets executes sets alone until stop: what they start is there, and costs nothing.
func serveSets(t *testing.T, j *journal.Journal) (stop func()) {
	n := runtime.NewNode(j, &runtime.NodeOptions{Logger: silent})
	schedule.HandleSets(n)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestLargeSet: a set of 10,000 is applied as a whole, in a transaction of the caller's too, and so
// is a change that takes all but three of them away.
func TestLargeSet(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, j *journal.Journal, begin func() transaction) {
		n := 10_000
		if strings.HasSuffix(t.Name(), "sqlite") {
			n = 4_000 // two messages: a file is slower, and the largest set is one of memory and of a server already
		}
		ctx := clustertest.Context(t)
		r := &rig{TB: t, client: runtime.NewClient(j, &runtime.ClientOptions{Logger: silent}), ctx: ctx}
		defer serveSets(t, j)()
		set := many(n)
		count := func() int {
			open := journal.Open
			c, _, err := r.client.Count(ctx, journal.ListFilter{Workflow: schedule.Workflow, Status: &open}, n+1)
			r.must(err)
			return c
		}
		tx := begin()
		_, err := schedule.Apply(ctx, r.client, set, &schedule.Options{Tx: tx.tx})
		r.must(err)
		r.must(tx.undo())
		tx = begin()
		_, err = schedule.Apply(ctx, r.client, set, &schedule.Options{Tx: tx.tx})
		r.must(err)
		if page, err := r.client.List(ctx, journal.ListFilter{}); err != nil || len(page.Runs) > 0 {
			t.Fatalf("ahead of the commit there are %d runs, %v", len(page.Runs), err)
		}
		r.must(tx.commit())
		clustertest.Until(t, "schedules are there", func() bool {
			c := count()
			if c != 0 && c != n {
				t.Fatalf("%d of the set's schedules are there: it is half applied", c)
			}
			return c == n
		})
		if got := r.apply(set.Schedules...); got.Kept != n {
			t.Errorf("the second time %+v", got)
		}
		got := r.apply(set.Schedules[:3]...)
		if got.Kept != 3 || len(got.Removed) != n-3 || len(got.Added)+len(got.Changed) != 0 {
			t.Errorf("pruned: %d kept, %d removed", got.Kept, len(got.Removed))
		}
	})
}

// TestSetIsFull: puts one by one do not make a set larger than one that is applied may be, and one
// change does no more than a commit can.
func TestSetIsFull(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		r.leave()
		r.serveWith(schedule.HandleSets, nil)
		full := many(10_000)
		put := func(s schedule.Set) error {
			a, err := schedule.Put(r.ctx, r.client, s, nil)
			r.must(err)
			_, err = a.Wait(r.ctx)
			return err
		}
		r.must(put(full))
		one := schedule.Set{Schedules: []schedule.Schedule{every("one", 24*time.Hour, job{})}}
		if err := put(one); err == nil || !strings.Contains(err.Error(), `set "default" of schedules: it would have 10001 schedules, at most 10000`) {
			t.Errorf("one more: %v", err)
		}
		others := many(10_000)
		for i := range others.Schedules {
			others.Schedules[i].Name = "other" + others.Schedules[i].Name
		}
		a, err := schedule.Apply(r.ctx, r.client, others, nil)
		r.must(err)
		if _, err := a.Wait(r.ctx); err == nil || !strings.Contains(err.Error(), "the change removes 10000 schedules and puts 10000, at most 19900 are one commit") {
			t.Errorf("all others: %v", err)
		}
		full.Schedules = full.Schedules[:1]
		full.Schedules[0].Note = "of one that is there"
		r.must(put(full))
		d, err := schedule.Delete(r.ctx, r.client, "", []string{"s7"}, nil)
		r.must(err)
		_, err = d.Wait(r.ctx)
		r.must(err)
		r.must(put(one))
	})
}

// TestPartsOfAChange: of a change whose caller dies in between nothing happens, whoever else makes
// changes meanwhile; the set forgets its parts.
func TestPartsOfAChange(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		r.leave()
		r.serveWith(schedule.HandleSets, &runtime.NodeOptions{HistoryHint: 8})
		r.apply(every("a", time.Hour, job{}))
		set, err := r.client.FindKey(r.ctx, "schedules:default")
		r.must(err)
		part := func(text string) {
			r.must(runtime.Signal(r.ctx, r.client, set, "reprise.schedules.apply", json.RawMessage(text), nil))
		}
		last := func(text string) error {
			_, err := runtime.CallUpdate(r.ctx, r.client, set, workflow.Update[json.RawMessage, schedule.Changes]("reprise.schedules.apply"), json.RawMessage(text), nil)
			return err
		}
		text := func(name string) string {
			text, err := json.Marshal(every(name, time.Hour, job{}))
			r.must(err)
			return string(text)
		}
		part(`{"change": "lost", "put": [` + text("lost") + `]}`)
		part(`{"change": "slow", "put": [` + text("b") + `]}`)
		for i := range 5 {
			r.apply(every("a", time.Duration(2+i)*time.Hour, job{}))
		}
		// The generation waits for the second part of the slow one.
		part(`{"change": "slow", "put": [` + text("c") + `]}`)
		r.must(last(`{"change": "slow", "parts": 2, "put": [` + text("d") + `]}`))
		d := r.apply(every("a", 9*time.Hour, job{}))
		if got := strings.Join(d.Removed, " "); got != "b c d" {
			t.Errorf("of three messages came the schedules %s", got)
		}
		r.until(10 * time.Minute)
		if desc, err := r.client.Describe(r.ctx, set); err != nil || desc.Run.Generation < 2 {
			t.Errorf("the set is in generation %d, %v: parts that are lost hold it up", desc.Run.Generation, err)
		}
		part(`{"change": "half", "put": [` + text("half") + `]}`)
		if err := last(`{"change": "half", "parts": 2}`); err == nil || !strings.Contains(err.Error(), "not all of the 2 parts") {
			t.Errorf("one part of two: %v", err)
		}
		if err := last(`{"change": "lost", "parts": 2}`); err == nil || !strings.Contains(err.Error(), "not all of the 2 parts of a change have come: apply it again") {
			t.Errorf("parts that were lost: %v", err)
		}
	})
}
