package cli_test

import (
	"testing"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
)

// TestUpdateRefusesToWait: an update that does not want to wait is refused by a run that is paused,
// or whose queue is, with who has done it and why, and nothing is stored.
func TestUpdateRefusesToWait(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, store string) {
		startOrders(t, store, 1)
		const key = "key=order:0"
		for _, scope := range [][]string{{"run", key}, {"queue", "default"}} {
			reprise(t, store, cli.ExitDone, scope[0], "pause", scope[1], "--reason", "the warehouse moves")
			refused := reprise(t, store, cli.ExitRefused, "run", "update", key, "address", "--refuse-paused")
			wantText(t, "an update", refused.err, "run is paused: ", "the warehouse moves", "nothing was sent")
			if d := show(t, store, key); d.Unread != 0 {
				t.Errorf("%d messages wait", d.Unread)
			}
			reprise(t, store, cli.ExitDone, scope[0], "resume", scope[1])
		}
	})
}
