package actor

import (
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay"
)

// terminalEvent returns the last event of the run, or of its generation, and lets the commit close
// the run or begin its next generation. A next generation stays owned, unless this node cannot
// execute it.
func (r *run) terminalEvent(t *turn, d *replay.Decision) journal.Event {
	ev := *d.Terminal
	head := r.machine.Head()
	ev.Seq, ev.Time = head.Seq+1, r.machine.Now()
	ev.Link = ev.LinkAfter(head.Link)
	c := &t.commit
	if d.Continue != nil {
		c.Continue = d.Continue
		c.Continue.Seen = r.inputs.seen(r.ident.InboxSeen, r.machine.InboxSeen())
		waiting := r.inputs.stillCarried(r.ident.InboxSeen, r.info.Continued)
		c.Continue.Carried = slices.Concat(c.Continue.Carried, waiting)
		slices.Sort(c.Continue.Carried)
		here := r.host.o.Lookup(r.info.Workflow, c.Continue.Version) != nil
		if r.host.draining.Load() || !here || onHold(r) {
			c.Next.Kind = driver.NextRelease
		}
		if !here && r.host.o.Hooks.Elsewhere != nil {
			r.host.o.Hooks.Elsewhere(journal.Route{Queue: r.info.Queue, Workflow: r.info.Workflow, Version: c.Continue.Version})
		}
		return ev
	}
	c.Next.Kind, c.Children, c.Limited = driver.NextClose, d.Children, len(r.info.Limits) > 0
	if m, ok := r.info.ParentMessage(&ev); ok {
		c.Messages = append(c.Messages, m)
	}
	return ev
}

// planTask decides what becomes of the task. It stays owned while a body is executed or is about to
// be, or an input waits: then a message is certain to come. Else the run is parked until its next
// timer or retry, and the store makes it visible earlier if a message arrives (J6). A run that
// gives its place back to others is parked until now, and one that is on hold as soon as no body is
// executed (J11). One that pauses itself is kept until the store knows.
func (r *run) planTask(t *turn) {
	c := &t.commit
	c.InboxSeen = r.inputs.seen(r.ident.InboxSeen, r.machine.InboxSeen())
	if c.Next.Kind == driver.NextClose || c.Continue != nil {
		return
	}
	c.Attempts = r.steps.attempts()
	notePauses(t, &r.steps)
	running, startable := r.steps.count(r.now(), r.host.o.attemptsMax)
	startable += len(t.cancel) // those that do not run end at once
	inputs := len(r.inputs.queue) > 0 || r.inputs.news
	draining := r.host.draining.Load()
	defer func() {
		c.Hold = (onHold(r) || c.Pause != "") && c.Next.Kind == driver.NextKeep
		c.Interrupted = c.Hold && r.task.State == journal.Interrupting
	}()
	switch {
	case c.Pause != "": // the next turn parks it
	case running > 0 && !r.handBack:
	case draining && (startable > 0 || running > 0 || inputs):
		c.Next.Kind = driver.NextRelease
	case onHold(r) && len(r.inputs.queue)+len(t.cancel) > 0: // outcomes are nowhere else
	case (startable > 0 || inputs) && !yields(r) && !onHold(r):
	default:
		at := r.steps.nextDue(nextTimer(r.machine), r.now(), r.host.o.attemptsMax)
		switch due := !at.IsZero() && !at.After(r.now()); {
		case startable > 0 || inputs || onHold(r):
			// A paused task is claimed by nobody whatever its time. A resume that overtakes this
			// park must find it visible: what the run has not read may be messages that were
			// carried over.
			if at = r.now(); !r.limited.IsZero() && !inputs && !onHold(r) {
				at = at.Add(limitRest)
			}
		case due && !draining && !onHold(r):
			return // a claim would come at once
		}
		c.Next.Kind, c.Next.At = driver.NextPark, at
		c.Waiting = describeWait(r.machine, r.info, &r.host.o.Hooks)
	}
}

// describeWait is what people see of a parked run: what it waits for, and the signals that nobody
// receives. Strands that wait for each other are reported,
// because nothing will wake them.
func describeWait(m *replay.Machine, run *journal.Run, h *Hooks) []string {
	stuck := m.Stuck()
	if len(stuck) == 0 {
		return append(m.Waiting(), replay.Unreceived(m)...)
	}
	if h.Deadlocked != nil {
		h.Deadlocked(run, stuck)
	}
	for i := range stuck {
		stuck[i] = "stuck: " + stuck[i]
	}
	return append(stuck, replay.Unreceived(m)...)
}
