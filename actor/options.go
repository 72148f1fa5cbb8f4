package actor

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// Options of a System. Node, Store and Lookup are required. Zero means the default for all others,
// which limits.go has; this is the only place that applies them.
type Options struct {
	Node  journal.NodeID
	Store Store
	// Lookup returns the code of a workflow, nil if it is not registered here.
	Lookup func(workflow string, version int32) *replay.Definition

	// Needs returns all limits that a run must have before it begins, if it does not have all that
	// its workflow and its queue name; nil if it has. An error blocks the run. nil for none.
	Needs func(r journal.Route, input journal.Payload, labels map[string]string, has []journal.LimitNeed) ([]journal.LimitNeed, error)

	StepsMax   int           // step bodies that run at once
	WarmMax    int           // parked runs that stay in memory
	WarmIdle   time.Duration // how long a parked run stays in memory
	StuckAfter time.Duration // workflow code that does not await for so long is reported
	HistoryMax int           // events of a generation; a run that has more is blocked
	// Thresholds say when workflow code is told that its history is long; zero fields mean the
	// machine's defaults.
	Thresholds replay.Thresholds

	// PassivateAlways drops the machine after every commit, so that each turn replays the whole
	// history. It is slow, and proves that replay is faithful.
	PassivateAlways bool
	// StepInterceptors are around every step's body, or what Intercept has in its place, the first
	// one outermost: see around.
	StepInterceptors []StepInterceptor
	// Intercept is called in place of every step's body, and gets the body; nil for none.
	Intercept func(ctx context.Context, tx any, body replay.Body) (journal.Payload, error)

	// Limiter gives steps the limits that they name. Without one they begin as if they named none.
	Limiter Limiter

	Hooks Hooks

	attemptsMax int // steps of a run whose attempts are kept; journal.AttemptsMax but in tests
}

func (o Options) withDefaults() Options {
	if o.StepsMax <= 0 {
		o.StepsMax = stepsMaxDefault
	}
	if o.WarmMax <= 0 {
		o.WarmMax = warmMaxDefault
	}
	if o.WarmIdle <= 0 {
		o.WarmIdle = warmIdleDefault
	}
	if o.StuckAfter <= 0 {
		o.StuckAfter = stuckAfterDefault
	}
	if o.HistoryMax <= 0 {
		o.HistoryMax = historyMaxDefault
	}
	if o.attemptsMax <= 0 {
		o.attemptsMax = journal.AttemptsMax
	}
	return o
}
