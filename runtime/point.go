package runtime

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/reprise-run/reprise/journal"
)

// Point is a place in the history of a run's present generation, to which [Client.Reset] goes back:
// one of the constants, [AfterEvent] or [BeforeStep]. Its text is what the command takes.
type Point string

// The points that have no argument.
const (
	// BeforeFailure is before the outcome of the step or child because of which the run has failed,
	// before the request by which it was cancelled, or before its termination.
	BeforeFailure Point = "failure"
	// GenerationStart is the beginning of the present generation: no event is kept.
	GenerationStart Point = "generation"
	// RunStart is the beginning of the run. One that has continued as new needs its input again, as
	// ResetOptions.Input: the present generation has another one.
	RunStart Point = "start"
	// LatestFit is behind the last event that the code of ResetOptions.Proof replays.
	LatestFit Point = "fits"
)

const (
	pointEvent = "event:"
	pointStep  = "step:"
)

// AfterEvent is behind an event: the events up to this one are kept. 0 keeps none.
func AfterEvent(seq journal.Seq) Point { return Point(pointEvent + strconv.Itoa(int(seq))) }

// BeforeStep is before the first outcome of a step with that name: it runs again, and so does
// whatever ended after it.
func BeforeStep(name string) Point { return Point(pointStep + name) }

// Check refuses what is no point, with a journal.ErrInvalid. Whether a history has it is another
// question.
func (p Point) Check() error {
	switch p {
	case BeforeFailure, GenerationStart, RunStart, LatestFit:
		return nil
	}
	if name, ok := strings.CutPrefix(string(p), pointStep); ok && name != "" {
		return nil
	}
	if text, ok := strings.CutPrefix(string(p), pointEvent); ok {
		if n, err := strconv.ParseInt(text, 10, 32); err == nil && n >= 0 {
			return nil
		}
	}
	return fmt.Errorf("point %q is none of failure, generation, start, fits, event:NUMBER and step:NAME: %w", string(p), journal.ErrInvalid)
}

// PointError says why a history has no such point, or why a run cannot go back to it.
type PointError struct {
	Run  journal.RunID
	Text string // what is in the way, and how to go on
}

func (e *PointError) Error() string { return fmt.Sprintf("run %s: %s", e.Run, e.Text) }
