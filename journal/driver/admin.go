package driver

import (
	"fmt"
	"strings"

	"github.com/reprise-run/reprise/journal"
)

// AdminKind is an operator's action on one run.
type AdminKind int

// The operator's actions.
const (
	AdminDelete       AdminKind = iota + 1 // forget a closed run; an open one is refused with ErrOpen
	AdminResume                            // make a blocked, quarantined, paused or parked run visible now
	AdminTerminate                         // close an open run without running its code (RunTerminated)
	AdminPause                             // start no further step of an open run, see journal.Task
	AdminInterrupt                         // the same, and interrupt the attempts that its owner executes
	AdminSetLabels                         // set and remove labels of a run, open or closed
	AdminSetPriority                       // change the priority of an open run
	AdminRetry                             // go on with a closed run from before its failure (J13)
	AdminReset                             // go on with a run from an earlier point of its history (J13)
	AdminFork                              // begin another run at a point of a run's history (J13)
	AdminSkip                              // leave a message out of a run (J13)
	AdminEdit                              // give a step of a run another result (J13)
	AdminDrain                             // ask a node to hand back what it has, and to leave
	AdminSaveView                          // save a view, or another address of one
	AdminDeleteView                        // delete a view
	AdminSetLimit                          // set a limit (J14)
	AdminRemoveLimit                       // remove a limit
	AdminReleaseClaim                      // take a claim of a limit from the step that holds it, or waits
	adminCancel                            // none: the audit's word for what Full cancels
)

// String is the action as callers know it.
func (k AdminKind) String() string {
	switch k {
	case AdminDelete:
		return "delete"
	case AdminResume:
		return "resume"
	case AdminTerminate:
		return "terminate"
	case AdminPause, AdminInterrupt:
		return "pause"
	case AdminSetLabels:
		return "set-labels"
	case AdminSetPriority:
		return "set-priority"
	case AdminRetry:
		return "retry"
	case AdminReset:
		return "reset"
	case AdminFork:
		return "fork"
	case AdminSkip:
		return "skip"
	case AdminEdit:
		return "edit"
	case AdminDrain:
		return "drain"
	case AdminSaveView:
		return "save-view"
	case AdminDeleteView:
		return "delete-view"
	case AdminSetLimit:
		return "set-limit"
	case AdminRemoveLimit:
		return "remove-limit"
	case AdminReleaseClaim:
		return "release-claim"
	case adminCancel:
		return "cancel"
	}
	return fmt.Sprintf("admin action %d on", int(k))
}

// GoesBack tells whether the action is a [Rewind] of the run itself.
func (k AdminKind) GoesBack() bool {
	switch k {
	case AdminRetry, AdminReset, AdminSkip, AdminEdit:
		return true
	}
	return false
}

// Refuses tells why a run that is open, or is not, is none for the action; nil if it is one.
func (k AdminKind) Refuses(open bool) error {
	switch {
	case k == AdminFork || k.GoesBack() && k != AdminRetry:
	case (k == AdminDelete || k == AdminRetry) && open:
		return journal.ErrOpen
	case k != AdminDelete && k != AdminSetLabels && k != AdminRetry && !open:
		return journal.ErrClosed
	}
	return nil
}

// AdminAction is what an operator does to one run. Reason may be any text, as that of a cancel
// request; it is kept with a termination, where the history shows it, and its beginning in the
// audit (J12), beside the name of the actor.
type AdminAction struct {
	Run    journal.RunID
	Kind   AdminKind
	Reason string
	Actor  string
	// Once makes it an action of several callers that one of them carries out; nil for others.
	Once *Once
	// FreezeTimers makes the timers of the run stand still too, with a pause of a run.
	FreezeTimers bool

	// Scope makes a pause, an interruption or a resume one of a scope instead of a run (J11).
	Scope *journal.Scope
	// Node is that of AdminDrain, which is about no run.
	Node journal.NodeID
	// View is that of AdminSaveView and AdminDeleteView, which are about no run: its name, and when
	// it is saved its address.
	View *journal.View
	// Limit is that of AdminSetLimit and, by name and key, of AdminRemoveLimit. Claim is that of
	// AdminReleaseClaim, by node and id.
	Limit *journal.Limit
	Claim *journal.LimitClaim

	Labels   map[string]*string // of AdminSetLabels: nil removes one
	Priority int16              // of AdminSetPriority
	Rewind   *Rewind            // of AdminFork and what goes back
	Fork     *Fork              // of AdminFork
}

// AdminOutcome tells of the run of a pause, a resume, or what goes back. Of a scope, Pause
// is the number of the pause that it has, 0 for none.
type AdminOutcome struct {
	Pause int64
	Acted bool // nothing was changed, because another caller has: see [Once]

	Owner journal.NodeID    // who has to look at it; 0 if it is free
	State journal.TaskState // afterwards
}

// Detail is what the audit says of the action beside its verb. That of an edit is [Edit.Detail],
// that of one that goes back [Rewind.Detail], and those of a fork [Fork.Details].
func (a *AdminAction) Detail() string {
	text := ""
	if a.Kind == AdminInterrupt {
		text = "running steps are interrupted"
	}
	if a.FreezeTimers {
		text = strings.TrimPrefix(text+"; timers are frozen", "; ")
	}
	return text
}

// AuditReason is the reason as the audit keeps it: text that every store can hold, and no more of
// it than people read.
func (a *AdminAction) AuditReason() string {
	return auditText(strings.ReplaceAll(strings.ToValidUTF8(a.Reason, "\ufffd"), "\x00", "\ufffd"))
}

// check refuses an action that no store carries out.
func (a *AdminAction) check() error {
	if err := journal.CheckText("actor", a.Actor, journal.NameBytesMax); err != nil {
		return err
	}
	if err := a.checkFreeze(); err != nil {
		return err
	}
	if err := a.checkOnce(); err != nil {
		return err
	}
	if a.View != nil || a.onView() {
		return a.checkView()
	}
	if a.Scope != nil {
		return a.checkScope()
	}
	if a.OnLimit() || a.Limit != nil || a.Claim != nil {
		return a.checkLimit()
	}
	if a.Kind == AdminDrain || a.Node != 0 {
		return a.checkNode()
	}
	if a.Kind == AdminFork || a.Kind.GoesBack() {
		err := a.Rewind.check()
		if err == nil && a.Kind == AdminFork {
			err = a.Fork.check(a.Rewind)
		}
		return err
	}
	if a.Kind == AdminSetPriority {
		return journal.CheckPriority(a.Priority)
	}
	set := map[string]string{}
	for name, value := range a.Labels {
		if value != nil {
			set[name] = *value
		} else if err := journal.CheckLabels(map[string]string{name: ""}); err != nil {
			return err
		}
	}
	return journal.CheckLabels(set)
}

// Acted tells whether an entry of the audit is of the action.
func (a *AdminAction) Acted(e *journal.AuditEntry) bool {
	return a.Once != nil && e.Run == a.Run && e.Number > a.Once.After && e.Verb == a.Kind.String() && strings.HasPrefix(e.Reason, a.Once.Mark)
}

// checkOnce refuses what the audit would not show.
func (a *AdminAction) checkOnce() error {
	switch {
	case a.Once == nil:
		return nil
	case a.Run.IsZero(), a.Scope != nil:
		return fmt.Errorf("an action that is done once, and on no run: %w", journal.ErrInvalid)
	case a.Once.Mark == "" || !strings.HasPrefix(a.AuditReason(), a.Once.Mark):
		return fmt.Errorf("reason %q of an action that is done once does not begin with %q: %w", a.AuditReason(), a.Once.Mark, journal.ErrInvalid)
	}
	return nil
}

// PausedBy is the state of an open task after a pause. A pause of a run that is on hold changes
// nothing, unless it interrupts what an owner still executes.
func PausedBy(kind AdminKind, t *journal.Task) journal.TaskState {
	switch {
	case t.Owner == 0:
		return journal.Paused
	case kind == AdminInterrupt:
		return journal.Interrupting
	case t.State.OnHold():
		return t.State
	}
	return journal.Pausing
}

// FreedState is the state of a task that is freed by anybody but its own commit.
func FreedState(s journal.TaskState) journal.TaskState { return min(s, journal.Paused) }

// CommittedState is the state of a task after a commit of its owner that leaves the run open. A
// pause stays, whatever the owner knew of it (J11).
func CommittedState(c *Commit, s journal.TaskState) journal.TaskState {
	switch {
	case s.OnHold() && c.Next.Kind == NextKeep && !c.Hold, s == journal.Interrupting && c.Next.Kind == NextKeep && !c.Interrupted:
		return s
	case s.OnHold(), c.Pause != "":
		return journal.Paused
	case c.Next.Kind == NextBlock:
		return journal.Blocked
	}
	return journal.Ready
}
