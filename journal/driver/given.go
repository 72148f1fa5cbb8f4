package driver

import (
	"fmt"
	"strings"

	"github.com/reprise-run/reprise/journal"
)

// Given is a step whose result is given, see journal.Attempt.
type Given struct {
	Cmd    journal.Cmd
	Name   string
	Output journal.Payload
}

// Attempts are those of the task of the generation that begins.
func (w *Rewind) Attempts() (list []journal.Attempt) {
	for _, g := range w.Given {
		list = append(list, journal.Attempt{Cmd: g.Cmd, Name: g.Name, Given: &g.Output})
	}
	return list
}

func (w *Rewind) checkGiven() error {
	bytes := 0
	for i, g := range w.Given {
		bytes += len(g.Output.Data)
		if g.Cmd < 1 || i > 0 && g.Cmd <= w.Given[i-1].Cmd {
			return fmt.Errorf("a given result of command %d: %w", g.Cmd, journal.ErrInvalid)
		}
	}
	if n := len(w.Given); n > journal.AttemptsMax {
		return &journal.LimitError{What: "given results", Size: n, Max: journal.AttemptsMax}
	}
	if most := journal.CommitBytesMax / 2; bytes > most { // the turns of the run have them until all are taken
		return &journal.LimitError{What: "bytes of given results", Size: bytes, Max: most}
	}
	return nil
}

// givenSteps names them, for the audit.
func (w *Rewind) givenSteps() (list []string) {
	for _, g := range w.Given {
		list = append(list, fmt.Sprintf("step %s (command %d)", g.Name, g.Cmd))
	}
	return list
}

func givenText(what []string) string {
	if len(what) == 0 {
		return ""
	}
	return "; results are given for " + strings.Join(what, ", ")
}
