package model

import (
	"bytes"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// The next states of a task.
var (
	keep    = driver.Next{Kind: driver.NextKeep}
	park    = driver.Next{Kind: driver.NextPark}
	release = driver.Next{Kind: driver.NextRelease}
	closed  = driver.Next{Kind: driver.NextClose}
)

func parkUntil(at time.Time) driver.Next { return driver.Next{Kind: driver.NextPark, At: at} }

func block(problem string, at time.Time) driver.Next {
	return driver.Next{Kind: driver.NextBlock, Problem: problem, At: at}
}

// started is the first event of a run that asks for steps.
func started(steps ...string) journal.Event {
	return journal.Event{Kind: journal.RunStarted, Issued: asks(steps)}
}

// stepDone is the outcome of a step, after which the run asks for others.
func stepDone(cmd journal.Cmd, name, output string, then ...string) journal.Event {
	return journal.Event{Kind: journal.StepCompleted, Cmd: cmd, Name: name, Attempt: 1,
		Payload: journal.Payload{Data: []byte(output)}, Issued: asks(then)}
}

func asks(steps []string) (list []journal.Issued) {
	for _, name := range steps {
		list = append(list, journal.Issued{Kind: journal.CommandStep, Name: name})
	}
	return list
}

// ended is a terminal event.
func ended(kind journal.Kind) journal.Event {
	if kind == journal.RunCompleted {
		return journal.Event{Kind: kind, Payload: journal.Payload{Data: []byte(`"done"`)}}
	}
	return journal.Event{Kind: kind, Payload: journal.EncodeFailure(&journal.Failure{Type: "test", Message: kind.String()})}
}

// none is the answer of calls that have none.
type none struct{}

// sortedIDs returns ids in their order.
func sortedIDs(ids []journal.RunID) []journal.RunID {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b journal.RunID) int { return bytes.Compare(a[:], b[:]) })
	return ids
}
