package actor

import (
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Messages to shards, which forward them to the run.
type (
	// activate brings a task that the node has come to own.
	activate struct {
		claimed     *driver.Claimed
		unconfirmed bool    // see System.ActivateUnconfirmed
		newcomer    *cohort // in which the activation counts
	}
	// attention says that a run's inbox may have messages.
	attention struct{ run journal.RunID }
	// drain asks a run to hand itself back once its steps have ended; with force, without waiting
	// for them.
	drain struct{ force bool }
	// pausesChanged says that other scopes are paused than before.
	pausesChanged struct{}
	// compare holds what the store says the node owns against what is live: see System.Compare.
	compare struct {
		list  map[journal.RunID]driver.Holding
		asked time.Time
	}
	// interrupt gives up runs that execute steps: see System.Interrupt. Without a cause it says
	// that steps may start again.
	interrupt struct{ cause error }
	// sweep asks a shard to look for runs that have been parked for too long.
	sweep struct{}
)

// Reports of an idle run to its shard. seen is how many messages from the shard the run has
// handled. If the shard has sent more, the report has crossed one of them and is void: the run will
// handle that message and, unless it became active by it, report again.
type (
	// parked: keep me in memory, the next activation is cheap.
	parked struct {
		run  journal.RunID
		seen int
	}
	// vacant: I remember nothing, use me for another run.
	vacant struct {
		run  journal.RunID
		seen int
	}
)

// Messages to a run. epoch is the activation that caused the message; if the run has another one by
// now, the message is stale.
type (
	// passivate comes from its shard: leave memory if still idle. If not full, a run that remembers
	// a back-off may stay.
	passivate struct{ full bool }
	// compared comes from its shard: the run's part of a comparison. The actor may serve another
	// run by now.
	compared struct {
		run     journal.RunID
		holding driver.Holding
		found   bool
		asked   time.Time
	}
	// loaded answers a load.
	loaded struct {
		epoch   int
		history driver.History
		err     error
	}
	// committed answers a commit.
	committed struct {
		epoch     int
		err       error
		inboxLast journal.InboxSeq
		state     journal.TaskState
	}
	// stepDone answers an attempt.
	stepDone struct {
		epoch  int
		result result
	}
	// borrow asks for a run's permission to keep its turns waiting, see driver.ExclusiveTx.
	borrow struct {
		epoch   int
		cmd     journal.Cmd
		number  int
		granted chan struct{}
	}
	// heartbeat comes from a running attempt, now and then.
	heartbeat struct {
		epoch   int
		cmd     journal.Cmd
		number  int
		details journal.Payload
	}
	// saveHeartbeats is the run's timer of heartbeats that were held back.
	saveHeartbeats struct{ epoch int }
	// wake is the run's own timer.
	wake struct{ epoch int }
	// survived ends the trial of a run whose last owners died.
	survived struct{ epoch int }
)
