package temporal

import (
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// A Lottery draws a winner that nobody can predict, gives its tickets unique ids, and reads a
// setting once an hour. A replay has the same winner, tickets and settings.
const Lottery workflow.Name[[]string, Drawn] = "lottery"

// Drawn is the result.
type Drawn struct {
	Winner  string
	Tickets []string
	Waited  int // hours
}

// fair has what a lottery reads from the outside without a step.
type fair struct {
	secret func() int  // not to be foretold
	open   func() bool // a setting
}

func (f *fair) lottery(ctx workflow.Context, players []string) (d Drawn, err error) {
	for range players {
		d.Tickets = append(d.Tickets, workflow.UUID(ctx).String())
	}
	same := func(a, b bool) bool { return a == b }
	for workflow.SideEffectIfChanged(ctx, "open", f.open, same) { // costs room in the history only when it changes
		if err := workflow.Sleep(ctx, time.Hour); err != nil {
			return d, err
		}
		d.Waited++
	}
	// Not workflow.Random: whoever knows the run's id can compute its numbers.
	n := workflow.SideEffect(ctx, "draw", f.secret)
	d.Winner = players[n%len(players)]
	return d, nil
}
