package runtime

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// tie is why a child that the kept events have started may go on with the run.
type tie int

const (
	silent  tie = iota // no event has its answer: the end of the run may have ended it
	failing            // it is what the run is retried for
	dropped            // what comes behind the point has cancelled it
)

// eachChild calls do for each child of a run that one of some commands has started, of those that a
// rewind keeps.
func eachChild(ctx context.Context, c *Client, run journal.RunID, w *driver.Rewind, cmds map[journal.Cmd]tie, do func(*journal.Run) error) error {
	f := journal.ListFilter{Parent: run, Limit: journal.ListMax}
	for left := len(cmds); left > 0; {
		page, err := c.j.List(ctx, f)
		if err != nil {
			return err
		}
		for i := range page.Runs {
			child := &page.Runs[i]
			of := child.Parent
			if of == nil || !w.Started(of.Generation, of.Cmd) {
				continue
			}
			if _, ok := cmds[of.Cmd]; !ok {
				continue
			}
			if left--; left < 0 {
				return nil
			}
			if err := do(child); err != nil {
				return err
			}
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			break
		}
	}
	return nil
}
