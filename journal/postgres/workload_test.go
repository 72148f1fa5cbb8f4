package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// workload is a small engine on a store that fails now and then: clients that start and signal
// runs, and workers that play them. A run ends when it has consumed its signals.
type workload struct {
	t       *testing.T
	j       *driver.Journal
	runs    int
	signals int

	mu    sync.Mutex
	acked map[journal.RunID]int // runs whose start was acknowledged, and how many of their signals
	done  map[journal.RunID]bool
}

func newWorkload(t *testing.T, j *driver.Journal, runs, signals int) *workload {
	return &workload{t: t, j: j, runs: runs, signals: signals, acked: map[journal.RunID]int{}, done: map[journal.RunID]bool{}}
}

// run plays until all runs are closed. Meanwhile chaos is called again and again.
func (w *workload) run(chaos func(ctx context.Context)) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 100*time.Second)
	defer cancel()
	ended, end := context.WithCancel(ctx)
	var work sync.WaitGroup
	for worker := range 2 {
		work.Go(func() { w.work(ended, end, worker) })
	}
	for client := range 2 {
		work.Go(func() { w.client(ctx, client) })
	}
	work.Go(func() {
		for ended.Err() == nil {
			chaos(ended)
		}
	})
	work.Wait()
	end()
	if ctx.Err() != nil {
		w.t.Fatalf("%d of %d runs ended in time", len(w.done), w.runs)
	}
}

// persist repeats a call until the store answers it.
func persist(ctx context.Context, call func() error) error {
	for {
		err := call()
		if !errors.Is(err, journal.ErrUnavailable) || ctx.Err() != nil {
			return err
		}
	}
}

func (w *workload) client(ctx context.Context, client int) {
	for n := range w.runs / 2 {
		key := fmt.Sprintf("%d/%d", client, n)
		batch := []journal.Start{{ID: journal.NewRunID(), Key: key, Workflow: "flow"}}
		err := persist(ctx, func() error {
			out, err := w.j.Start(ctx, nil, batch)
			if err == nil {
				err = out[0].Err
			}
			return err
		})
		if err != nil {
			w.t.Errorf("start: %v", err)
			return
		}
		w.ack(batch[0].ID, 0)
		for s := range w.signals {
			message := []journal.Message{{Run: batch[0].ID, Kind: journal.MessageSignal, Name: "sig", Key: fmt.Sprint(s)}}
			err := persist(ctx, func() error {
				out, err := w.j.Send(ctx, nil, message)
				if err == nil {
					err = out[0].Err
				}
				return err
			})
			if err != nil {
				w.t.Errorf("send: %v", err)
				return
			}
			w.ack(batch[0].ID, s+1)
		}
	}
}

func (w *workload) ack(run journal.RunID, signals int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.acked[run] = signals
}

func (w *workload) close(run journal.RunID) (all bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done[run] = true
	return len(w.done) == w.runs
}

func (w *workload) work(ctx context.Context, end func(), worker int) {
	var m driver.Membership
	err := persist(ctx, func() (err error) {
		m, err = w.j.Join(ctx, journal.Node{Name: fmt.Sprint("worker ", worker), Routes: []journal.Route{flowRoute}, Lease: 5 * time.Minute})
		return err
	})
	if err != nil {
		w.t.Errorf("join: %v", err)
		return
	}
	r := driver.ClaimRequest{Node: m.ID(), Routes: []journal.Route{flowRoute}, Max: 5}
	for ctx.Err() == nil {
		c, err := w.j.Claim(ctx, r)
		r.Reconcile = err != nil // its answer may be lost
		if err != nil && !errors.Is(err, journal.ErrUnavailable) && ctx.Err() == nil {
			w.t.Errorf("claim: %v", err)
			return
		}
		for _, task := range c.Tasks {
			closed, err := w.play(ctx, task)
			if err != nil && ctx.Err() == nil {
				w.t.Errorf("play: %v", err)
				return
			}
			if closed && w.close(task.Run.ID) {
				end()
			}
		}
	}
}

// play gives a run one turn: it consumes what its inbox holds, and parks or closes.
func (w *workload) play(ctx context.Context, c driver.Claimed) (closed bool, err error) {
	var h driver.History
	err = persist(ctx, func() error {
		list, err := w.j.Load(ctx, []driver.LoadRequest{{Run: c.Run.ID}})
		if err == nil {
			h, err = list[0], list[0].Err
		}
		return err
	})
	if err != nil {
		return false, err
	}
	turn := driver.Commit{Run: c.Run.ID, Node: c.Task.Owner, Fence: c.Task.Fence, Turn: c.Task.Turn,
		Generation: c.Task.Generation, Head: journal.Head{Link: journal.OriginOf(c.Run.ID, c.Task.Generation, 0, c.Run.Input)}, Next: park}
	if n := len(h.Events); n > 0 {
		turn.Head = journal.Head{Seq: h.Events[n-1].Seq, Link: h.Events[n-1].Link}
	}
	add := func(ev journal.Event) {
		ev.Seq, ev.Time = journal.Seq(len(h.Events)+1), w.j.Now()
		if n := len(h.Events); n > 0 && ev.Time.Before(h.Events[n-1].Time) {
			ev.Time = h.Events[n-1].Time
		}
		ev.Time = ev.Time.UTC().Truncate(time.Microsecond)
		h.Events, turn.Events = append(h.Events, ev), append(turn.Events, ev)
	}
	if len(h.Events) == 0 {
		add(began())
	}
	consumed := 0
	for _, ev := range h.Events {
		turn.InboxSeen = max(turn.InboxSeen, ev.Inbox)
		if ev.Inbox != 0 {
			consumed++
		}
	}
	for _, m := range h.Inbox {
		add(m.Event())
		turn.InboxSeen = m.Number
		turn.Consumed = append(turn.Consumed, driver.Consumed{Number: m.Number, Digest: m.Digest()})
		consumed++
	}
	if consumed == w.signals {
		add(completed())
		turn.Next = closing
	}
	chain(&turn)
	tries := 0
	err = persist(ctx, func() error {
		tries++
		out, err := w.j.Commit(ctx, []driver.Commit{turn})
		if err == nil {
			err = out[0].Err
		}
		return err
	})
	if errors.Is(err, journal.ErrFenced) && tries > 1 && turn.Next.Kind == driver.NextPark {
		// A try whose answer was lost has parked the run, and another worker has claimed it since:
		// the row no longer proves the write, and the run is that worker's.
		return false, nil
	}
	return turn.Next.Kind == driver.NextClose, err
}

// audit checks that everything acknowledged is there. The checker of the database looks at the
// rest.
func (w *workload) audit() {
	w.t.Helper()
	for run, signals := range w.acked {
		list := events(w.t, w.j, run)
		consumed := 0
		for _, ev := range list {
			if ev.Inbox != 0 {
				consumed++
			}
		}
		if consumed != signals || list[len(list)-1].Kind != journal.RunCompleted {
			w.t.Errorf("run %s: %d of %d signals consumed, last event %s (J10)", run, consumed, signals, list[len(list)-1].Kind)
		}
	}
	if len(w.acked) != w.runs {
		w.t.Errorf("%d runs were acknowledged, want %d", len(w.acked), w.runs)
	}
}
