package gather

import (
	"fmt"
	"sync"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// Collector makes runs that return an Out of inputs that are Ins. It is a description: where it is
// made, nothing happens, and nothing is stored. One is made for each name, by [Batch], [Debounce]
// or [Latest], and is used from many goroutines.
//
// Inputs are kept as JSON, and reach the workflow through the codec of the node that starts its
// run: a codec of your own must encode a json.RawMessage as it would the value.
type Collector[In, Out any] struct {
	name  string
	plan  plan
	err   error // why nothing can be put into it
	known known
}

// Batch is a collector whose workflow gets its inputs as a list, in their order: rules.Size of
// them, or those of rules.Wait, whichever is first. rules.Wait or rules.Quiet must be set.
//
// Rules that cannot be, and a name that is none, are the error of [Put] and [Add].
func Batch[In, Out any](name string, run workflow.Name[[]In, Out], rules Rules) *Collector[In, Out] {
	return newCollector[In, Out](name, plan{rules, string(run), all})
}

// Debounce is a collector whose workflow gets the last of the inputs that come within a quiet time
// of each other: rules.Quiet must be set. It begins when no input has come for so long, and at the
// latest rules.Wait after the first one. For all of the inputs use [Batch] with rules.Quiet.
//
// Errors are as with [Batch].
func Debounce[In, Out any](name string, run workflow.Name[In, Out], rules Rules) *Collector[In, Out] {
	return newCollector[In, Out](name, plan{rules, string(run), last})
}

// Latest is a collector that has one run of a key open at a time, and one behind it: what comes
// while none is open starts at once, and of the inputs that come while one is open the last one
// starts when that has ended, however it did. rules.Size, Wait and Quiet must not be set.
//
// Errors are as with [Batch].
func Latest[In, Out any](name string, run workflow.Name[In, Out], rules Rules) *Collector[In, Out] {
	return newCollector[In, Out](name, plan{rules, string(run), latest})
}

func newCollector[In, Out any](name string, p plan) *Collector[In, Out] {
	p = p.withDefaults()
	return &Collector[In, Out]{name: name, plan: p, err: p.check(name)}
}

// KeyOf is the key of the run that collects a key of a collector, for runtime.Client.FindKey.
func KeyOf(name, key string) string { return "gather:" + name + ":" + key }

// keyOfBatch is the key of the run of a batch, numbered from 1 by its collector's run.
func keyOfBatch(name, key string, collector journal.RunID, n int64) string {
	return fmt.Sprintf("batch:%s:%s:%s:%d", name, key, collector, n)
}

// known are the runs that collect keys, so that a sender need not find them each time. They are no
// more than a guess: a store may have gone back, a run may have been cancelled.
type known struct {
	mu   sync.Mutex
	runs map[sender]journal.RunID
}

// sender is who puts something, into what key.
type sender struct {
	client *runtime.Client
	key    string
}

func (k *known) get(s sender) (journal.RunID, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	run, ok := k.runs[s]
	return run, ok
}

func (k *known) set(s sender, run journal.RunID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.runs == nil || len(k.runs) >= knownMax {
		k.runs = map[sender]journal.RunID{}
	}
	k.runs[s] = run
}

func (k *known) drop(s sender) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.runs, s)
}
