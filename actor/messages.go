package actor

import (
	"github.com/reprise-run/reprise/journal"
)

// Messages to shards, who forward them to the run.
type (
	// activate brings a task that the node has just come to own.
	activate struct {
		claimed     *journal.Claimed
		unconfirmed bool // see System.ActivateUnconfirmed
	}
	// attention says that a run's inbox may have news.
	attention struct{ run journal.RunID }
	// drain asks a run to hand itself back once its steps are done; with abandon, without waiting for them.
	drain struct{ abandon bool }
	// sweep asks a shard to look for runs that have been parked for too long.
	sweep struct{}
)

// Messages of a run to its shard. seen is the number of messages the shard has forwarded to it so far, as the
// run counted them: if the shard has forwarded more, the request is out of date, and the run will make another one
// once it has seen the rest, unless that made it active.
type (
	parked struct { // keep me warm
		run  journal.RunID
		seen int
	}
	finished struct { // stop me
		run  journal.RunID
		seen int
	}
)

// Messages to a run. epoch is the activation that asked.
type (
	// passivate comes from its shard: stop if still parked, and if not full also if there is nothing to remember.
	passivate struct{ full bool }
	loaded    struct {
		epoch   int
		history journal.History
		err     error
	}
	committed struct {
		epoch     int
		err       error
		inboxLast journal.InboxSeq
	}
	stepDone struct {
		epoch  int
		result result
	}
	beat struct {
		epoch   int
		cmd     journal.Cmd
		number  int
		details journal.Payload
	}
	wake struct{ epoch int } // the local timer
)
