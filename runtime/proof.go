package runtime

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// fits replays events with the node's code, as the generation that begins with them, and returns
// how many of them fit: code that has returned after an event goes on with nothing behind it. Then
// it lets the code take events that are not stored: results that are given.
func (n *Node) fits(ctx context.Context, run journal.Run, events []journal.Event, given ...journal.Event) (journal.Seq, error) {
	def, err := n.registry.find(run.Workflow, run.Version)
	if err != nil {
		return 0, err
	}
	type result struct {
		seq journal.Seq
		err error
	}
	done := make(chan result, 1)
	go func() { // code that does not return is left behind
		m := replay.New(def, replay.InfoOf(&run), n.j)
		defer m.Close()
		m.SetThresholds(n.o.thresholds())
		m.SetShown(run.Published, run.Labels)
		var r result
		for i := range events {
			if r.err = m.Replay(&events[i]); r.err != nil {
				break
			}
			if !m.Finished() {
				r.seq = events[i].Seq
			}
		}
		if r.err == nil {
			r.err = m.CheckOpen()
		}
		for i := range given {
			if ev := m.Stamp(given[i], m.Now()); r.err == nil && m.Waits(ev.Cmd) && !m.Finished() {
				r.err = m.Step(&ev)
			}
		}
		done <- r
	}()
	select {
	case r := <-done:
		return r.seq, r.err
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}
