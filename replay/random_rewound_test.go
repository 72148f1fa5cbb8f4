package replay_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// TestRandomRewound: what code draws in reaction to kept events is what it drew then, and behind them
// it draws other numbers and ids than the branch, whether the kept events have issued a command last or
// not: in a reset of a reset, in a fork, and in a fork of that.
func TestRandomRewound(t *testing.T) {
	var drawn []string
	tick := workflow.Signal[int]("tick")
	def := workflow.Define("dice", 1, func(ctx workflow.Context, _ struct{}) (int, error) {
		dice := workflow.Random(ctx)
		workflow.StepAsync(ctx, "s", func(context.Context) (int, error) { return 1, nil }, nil)
		for {
			drawn = append(drawn, fmt.Sprint(dice.Uint64(), workflow.UUID(ctx)))
			if _, err := tick.Receive(ctx); err != nil {
				return 0, err
			}
		}
	})
	const events = 6
	draws := func(run journal.RunID, g journal.Generation, r *journal.Rewound) []string {
		drawn = nil
		m := replay.New(def, replay.Info{Run: run, Workflow: "dice", Version: 1, Generation: g, Rewound: r, Input: journal.Payload{Data: []byte("{}")}}, journal.New(nil, nil))
		defer m.Close()
		for seq := journal.Seq(1); seq <= events; seq++ {
			ev := journal.Event{Seq: seq, Kind: journal.RunStarted, Time: epoch}
			if seq > 1 {
				ev = journal.Event{Seq: seq, Kind: journal.SignalReceived, Name: "tick", Inbox: journal.InboxSeq(seq - 1), Time: epoch, Payload: journal.Payload{Data: []byte("1")}}
			}
			if err := m.Step(&ev); err != nil {
				t.Fatal(err)
			}
		}
		return drawn
	}
	run, fork := journal.RunID{1}, journal.RunID{2}
	var none *journal.Rewound
	first := draws(run, 1, nil)
	second := none.After(1, 4, 1, 0, true)
	third := second.After(2, 5, 1, 0, true)
	forked := third.After(3, 5, 1, 0, true)
	forked.ForkOf(&journal.Run{ID: run})
	again := forked.After(4, 2, 1, 0, true)
	again.ForkOf(&journal.Run{ID: fork})
	all := first
	for _, c := range []struct {
		name string
		got  []string
		of   []string // what it goes back in
		kept int
	}{
		{"a reset", draws(run, 2, second), first, 4}, {"a reset of a reset", draws(run, 3, third), draws(run, 2, second), 5},
		{"a fork", draws(fork, 4, forked), draws(run, 3, third), 5}, {"a fork of a fork", draws(journal.RunID{3}, 5, again), draws(fork, 4, forked), 2},
	} {
		if len(c.got) != events || !slices.Equal(c.got[:c.kept], c.of[:c.kept]) {
			t.Errorf("%s draws %v for its %d kept events, which drew %v", c.name, c.got, c.kept, c.of)
			continue
		}
		for _, own := range c.got[c.kept:] {
			if slices.Contains(all, own) {
				t.Errorf("%s draws %s behind its kept events, which was drawn before", c.name, own)
			}
			all = append(all, own)
		}
	}
}
