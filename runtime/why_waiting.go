package runtime

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
)

// words are what the run's owner wrote about what it waits for, without what commands say better.
func (w *why) words() {
	for _, line := range w.d.Waiting {
		r := Reason{Kind: ReasonOther, Text: "it waits for " + line, Since: w.d.LastAt}
		switch word, rest, _ := strings.Cut(line, " "); word {
		case "step", "timer", "child", "":
			continue
		case "signal":
			r.Kind = ReasonSignal
			w.signal(&r, rest)
		case "stuck:":
			r.Kind, r.Text = ReasonStuck, "its strands wait for each other: "+rest
			r.Remedy = fmt.Sprintf("mend its code, and end the run: %s, or %s", w.verb("cancel"), w.verb("terminate"))
		default:
			if strings.HasSuffix(line, " not received") {
				r.Text = "the inbox had " + line
				r.Remedy = "look whether the name is the one that the code receives"
			}
		}
		w.add(r)
	}
}

// signal says of a signal that the run waits for whether it is in the inbox, else how to send it.
func (w *why) signal(r *Reason, name string) {
	found := w.find(func(m *journal.Message) bool { return m.Kind == journal.MessageSignal && m.Name == name })
	send := w.verb("signal", name, "PAYLOAD")
	switch unseen := w.d.Unread - len(w.d.Inbox); {
	case len(found) > 0:
		r.Text += ", which is in its inbox: " + messages(found)
		r.Remedy = "do not send it again: " + w.taker()
	case unseen > 0:
		r.Remedy = fmt.Sprintf("its inbox has %d messages, of which the first %d are others: if it is none of the rest, send it: %s",
			w.d.Unread, len(w.d.Inbox), send)
	default:
		r.Remedy = "send signal " + name + ": " + send
	}
}

// ended adds what is to be said of a child that has ended, and of which the run has not heard yet.
func (w *why) ended(r Reason, ch *PendingChild) {
	issuer := w.d.Run.Rewound.Issuer(w.d.Run.Generation, ch.Cmd)
	found := w.find(func(m *journal.Message) bool {
		answer := m.Kind == journal.MessageChildCompleted || m.Kind == journal.MessageChildFailed
		return answer && m.Cmd == ch.Cmd && m.Generation == issuer
	})
	if len(found) > 0 {
		r.Text += ", and its answer is in the inbox: " + messages(found)
		r.Remedy = w.taker()
	} else {
		r.Text += ", and its answer is not in the inbox yet"
		r.Remedy = "ask again in a moment"
	}
	w.add(r)
}

// find returns the unread messages of a kind, and notes that a reason names them.
func (w *why) find(is func(*journal.Message) bool) (found []*journal.Message) {
	for i := range w.d.Inbox {
		if m := &w.d.Inbox[i]; is(m) {
			found, w.told[m.Number] = append(found, m), true
		}
	}
	return found
}

// inbox adds the messages that the run has not consumed and that no other reason names.
func (w *why) inbox() {
	found := w.find(func(m *journal.Message) bool { return !w.told[m.Number] })
	if len(found) == 0 {
		return
	}
	r := Reason{Kind: ReasonInbox, Text: "its inbox has " + messages(found), Since: found[0].Time, Remedy: w.taker()}
	if unseen := w.d.Unread - len(w.d.Inbox); unseen > 0 {
		r.Text += fmt.Sprintf("; %d more were not looked at", unseen)
	}
	w.add(r)
}

// messages names the first of some messages: those that somebody may want to leave out.
func messages(list []*journal.Message) string {
	var names []string
	for _, m := range list[:min(len(list), whyMessagesMax)] {
		names = append(names, fmt.Sprintf("message %d (%s)", m.Number, strings.TrimSpace(m.Kind.String()+" "+m.Name)))
	}
	text := strings.Join(names, ", ")
	if more := len(list) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// taker is who takes what is in the inbox, and when.
func (w *why) taker() string {
	run, t := &w.d.Run, w.d.Run.Task
	route := journal.Route{Queue: t.Queue, Workflow: t.Workflow, Version: t.Version}
	paused := slices.IndexFunc(w.scopes, func(p journal.Pause) bool { return p.Scope.Covers(route) })
	lives := slices.ContainsFunc(w.nodes, func(n journal.Node) bool { return n.ID == t.Owner && n.ExpiresAt.After(w.now) })
	served, _ := w.served(route)
	switch {
	case t.State.OnHold(), t.State == journal.Quarantined:
		return "the run takes what is there when it is resumed: " + w.verb("resume")
	case t.State == journal.Blocked:
		return "the run takes what is there when its code fits"
	case paused >= 0:
		return fmt.Sprintf("the run takes what is there when %s is resumed: %s", w.scopes[paused].Scope, resumeOf(w.scopes[paused].Scope))
	case t.State == journal.Limited:
		return "the run takes what is there when it has its limits"
	case lives:
		return fmt.Sprintf("node %d takes what is there", t.Owner)
	case !served:
		return fmt.Sprintf("the next node that serves workflow %s, version %d, queue %s takes what is there", route.Workflow, route.Version, route.Queue)
	case w.d.Events == 0 && run.StartAt.After(w.now):
		return "the run takes what is there when it begins"
	}
	return "the next node with room takes what is there"
}
