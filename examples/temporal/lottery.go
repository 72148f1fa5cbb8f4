package temporal

import (
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// A Lottery draws a winner that nobody can foretell, numbers its tickets, and looks at a setting once an hour. Replay gives the
// same winner, tickets and settings.
const Lottery workflow.Name[[]string, Drawn] = "lottery"

// Drawn is what came of it.
type Drawn struct {
	Winner  string
	Tickets []string
	Waited  int // hours
}

// fair is what a lottery needs of the world, at once.
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
	// workflow.Random would do if it were no secret: who knows the run's id can tell its numbers.
	n := workflow.SideEffect(ctx, "draw", f.secret)
	d.Winner = players[n%len(players)]
	return d, nil
}
