package actor

import (
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

const knock workflow.Signal[int] = "knock"

// What many events ask for may be more than one commit takes, although each asks for little: it
// becomes several turns.
func TestManyEffectsAreSeveralTurns(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		const signals, each = 400, 60
		g.define("busy", func(ctx workflow.Context) (string, error) {
			for range signals {
				if _, err := knock.Receive(ctx); err != nil {
					return "", err
				}
				for range each {
					knock.SendAsync(ctx, journal.RunID{1}, 1)
				}
			}
			return "", nil
		})
		id := g.create("busy")
		for i := range signals {
			g.store.send(id, "knock", i)
		}
		g.sys.Activate(g.claimed(id))
		wait()
		sent := 0
		for _, c := range g.store.written() {
			if n := len(c.Messages); n > journal.CommitEffectsMax {
				t.Errorf("a commit has %d messages", n)
			}
			sent += len(c.Messages)
		}
		if sent != signals*each {
			t.Errorf("%d messages, want %d", sent, signals*each)
		}
		g.wantSaid("closed RunCompleted", 1)
	})
}
