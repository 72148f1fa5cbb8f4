package runtime

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// hold is who has paused the run, why, and what of it is still going on.
func (w *why) hold(t *journal.Task) {
	r := Reason{Kind: ReasonPaused, Text: "an operator has paused it", Remedy: "let it go on: " + w.verb("resume")}
	for _, e := range w.paused {
		r.Text, r.Since = e.Actor+" has paused it", e.Time
		if e.Actor == journal.ActorRuntime {
			r.Remedy = "mend what the step calls, then give the step a new set of attempts: " + w.verb("resume")
		}
		if e.Reason != "" {
			r.Text += ": " + e.Reason
		}
	}
	switch {
	case t.State != journal.Paused:
		r.Text += "; its node has not answered yet"
	case t.Owner != 0:
		r.Text += "; steps that were executed then may finish"
	}
	if w.d.Run.Freezes.Lasts() {
		r.Text += "; its timers stand still"
	}
	if t.Problem != "" {
		r.Text += "; it could not go on before that: " + t.Problem
	}
	if t.Owner == 0 && w.limits.waits(0) {
		r.Text += "; others pass it in the lines of its limits, and it has its place there again when it is resumed"
	}
	w.add(r)
}

// inScopes adds the pauses of scopes that the run is in, and tells whether there are any.
func (w *why) inScopes(t *journal.Task) (paused bool) {
	route := journal.Route{Queue: t.Queue, Workflow: t.Workflow, Version: t.Version}
	for i := range w.scopes {
		p := &w.scopes[i]
		if !p.Scope.Covers(route) {
			continue
		}
		paused = true
		r := Reason{Kind: ReasonPaused, Text: fmt.Sprintf("%s has paused %s", p.Actor, p.Scope), Since: p.Time,
			Remedy: "let its runs go on: " + resumeOf(p.Scope)}
		if p.Reason != "" {
			r.Text += ": " + p.Reason
		}
		if len(p.Unheeded) > 0 {
			r.Text += fmt.Sprintf("; nodes %v have not answered yet", p.Unheeded)
		}
		w.inLine(&r)
		w.add(r)
	}
	return paused
}

// resumeOf is the command that resumes a scope.
func resumeOf(s journal.Scope) string {
	if s.Workflow == "" {
		return "reprise queue resume " + shellWord(s.Queue)
	}
	command := "reprise workflow resume " + shellWord(s.Workflow)
	if s.Version != 0 {
		command += fmt.Sprintf(" --version %d", s.Version)
	}
	if s.Queue != "" {
		command += " --queue " + shellWord(s.Queue)
	}
	return command
}
