package replaytest

import (
	"fmt"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// History is one run as a machine sees it, or rather one generation of it: a run that continues
// as new begins another history. Its events are in the order of their Seq, from 1.
type History struct {
	Run replay.Info
	// Open tells that the run was still open after the last event, so code that returns there has
	// lost what it waited for. False says nothing: the history may be the beginning of a longer
	// one.
	Open   bool
	Events []journal.Event
}

// Of returns the history of a run of a store: Client.Describe has the run, Client.History its
// events. The events are those of the run's present generation, all of them: a history that
// begins later cannot be replayed. They are not copied.
func Of(run journal.Run, events []journal.Event) *History {
	return &History{Run: replay.InfoOf(&run), Open: run.Task != nil, Events: events}
}

// String is the history for people, one event a line: its number, what happened, and what the
// code asked for then. Times, ids and payloads are left out, so that a test can compare it with a
// text.
func (h *History) String() string {
	var b strings.Builder
	for i := range h.Events {
		b.WriteString(line(&h.Events[i]) + "\n")
	}
	return b.String()
}

// line is an event in the form of History.String.
func line(ev *journal.Event) string {
	s := fmt.Sprintf("%d %s", ev.Seq, title(ev))
	if len(ev.Issued) == 0 {
		return s
	}
	issued := make([]string, len(ev.Issued))
	for i, c := range ev.Issued {
		issued[i] = command(c)
	}
	return s + " > " + strings.Join(issued, ", ")
}

// title is what happened, without what the code did then.
func title(ev *journal.Event) string {
	s := ev.Kind.String()
	if ev.Name != "" {
		s += " " + ev.Name
	}
	if f, err := journal.DecodeFailure(ev.Payload); err == nil && f.Message != "" {
		s += ": " + f.Message
	}
	return s
}

// command is the stored form without what differs from run to run: due times, ids of runs,
// recorded values. Two histories of the same code with the same answers have the same lines.
func command(c journal.Issued) string {
	switch c.Kind {
	case journal.CommandTimer:
		return strings.TrimSpace("timer " + c.Name)
	case journal.CommandRecord, journal.CommandSend:
		c.Detail = ""
	case journal.CommandReply:
		return "reply " + c.Detail
	}
	return strings.ReplaceAll(c.String(), "\t", " ")
}
