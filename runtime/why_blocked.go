package runtime

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
)

// blocked says what may let a blocked run go on: other code, or without it what the history and the
// inbox allow.
func (w *why) blocked(t *journal.Task) {
	r := Reason{Kind: ReasonBlocked, Text: t.Problem, Until: w.ahead(t.VisibleAt)}
	ways := append([]string{"deploy code that fits the history: the run is tried again by itself, and at once by " + w.verb("resume")}, w.without(t)...)
	r.Remedy = strings.Join(ways, "; ")
	w.add(r)
}

// without are the ways to let a blocked run go on without other code.
func (w *why) without(t *journal.Task) (ways []string) {
	if seq := divergedAt(t.Problem); seq > 0 {
		back := w.verb("reset", string(AfterEvent(seq-1)), "--unproven")
		if seq == 1 {
			back = w.verb("reset", string(GenerationStart))
		}
		return []string{fmt.Sprintf("or go back to before event %d, whose steps and those behind it run again: %s, which says with --dry-run what that does", seq, back)}
	}
	// A panic, or a value that does not decode: what came last is the cause, as a rule.
	if i := slices.IndexFunc(w.d.Inbox, func(m journal.Message) bool { return !m.Kind.Answers() }); i >= 0 {
		m := &w.d.Inbox[i]
		ways = append(ways, leaveOut(m.Kind.String(), m.Name, m.Number)+w.verb("skip", fmt.Sprint(m.Number)))
	}
	if len(w.d.Steps) > 0 {
		s := &w.d.Steps[0]
		ways = append(ways, fmt.Sprintf("if what step %s returns is the cause, give it a result: %s", s.Name, w.verb("edit", fmt.Sprintf("cmd:%d", s.Cmd), "RESULT")))
	}
	if len(ways) == 0 && len(w.events) > 0 {
		ways = w.takeBack(&w.events[len(w.events)-1])
	}
	return ways
}

// takeBack are the ways to let a run go on without its newest event.
func (w *why) takeBack(last *journal.Event) []string {
	switch {
	case last.Inbox > 0 && last.Cmd == 0: // no answer, which could not be left out
		return []string{leaveOut(fmt.Sprintf("event %d, %s", last.Seq, last.Kind), last.Name, last.Inbox) + w.verb("skip", fmt.Sprint(last.Inbox), "--unproven")}
	case last.Kind.EndsStep():
		return []string{fmt.Sprintf("if the outcome of step %s (event %d) is the cause, give it another result: %s", last.Name, last.Seq,
			w.verb("edit", fmt.Sprintf("event:%d", last.Seq), "RESULT", "--unproven"))}
	}
	return []string{"or go back to where the code fits, with the program that has it: " + w.verb("reset", string(LatestFit))}
}

func leaveOut(what, name string, number journal.InboxSeq) string {
	return fmt.Sprintf("if message %d (%s) is the cause, leave it out: ", number, strings.TrimSpace(what+" "+name))
}

// divergedAt is the event at which a problem says that code and history differ; 0 for another
// problem. The store keeps a text only.
func divergedAt(problem string) (seq journal.Seq) {
	if _, err := fmt.Sscanf(problem, "code and history differ at event %d:", &seq); err != nil {
		return 0
	}
	return seq
}

// verb is the command that does something to the run.
func (w *why) verb(verb string, args ...string) string { return runVerb(verb, w.d.Run.ID, args...) }

func runVerb(verb string, run journal.RunID, args ...string) string {
	command := "reprise run " + verb + " " + run.String()
	for _, a := range args {
		command += " " + shellWord(a)
	}
	return command
}
