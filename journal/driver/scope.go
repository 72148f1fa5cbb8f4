package driver

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// checkScope refuses a scope, or an action, that no store carries out on scopes.
func (a *AdminAction) checkScope() error {
	switch a.Kind {
	case AdminPause, AdminInterrupt, AdminResume:
	default:
		return fmt.Errorf("%s is no action on a scope: %w", a.Kind, journal.ErrInvalid)
	}
	if !a.Run.IsZero() {
		return fmt.Errorf("an action is on a run or on a scope: %w", journal.ErrInvalid)
	}
	return a.Scope.Check()
}

// checkFreeze refuses to freeze timers with what is no pause of a run.
func (a *AdminAction) checkFreeze() error {
	switch {
	case !a.FreezeTimers:
	case a.Scope != nil:
		return fmt.Errorf("%w: a pause of %s does not freeze timers, because runs come to a scope and go: pause its runs themselves, as a bulk job does",
			journal.ErrInvalid, a.Scope)
	case a.Kind != AdminPause && a.Kind != AdminInterrupt:
		return fmt.Errorf("%w: %s freezes no timers, a pause does", journal.ErrInvalid, a.Kind)
	}
	return nil
}

// of is what an action is on, for errors.
func (a *AdminAction) of() string {
	if a.Scope != nil {
		return a.Scope.String()
	}
	switch {
	case a.Limit != nil:
		return fmt.Sprintf("limit %q", a.Limit.Name)
	case a.View != nil:
		return fmt.Sprintf("%q", a.View.Name)
	case a.Claim != nil:
		return fmt.Sprintf("claim %d of node %d", a.Claim.ID, a.Claim.Node)
	case a.Kind == AdminDrain:
		return fmt.Sprintf("node %d", a.Node)
	}
	return "run " + a.Run.String()
}

// ScopeDetail is what the audit says of an action on a scope beside its verb: the scope, which no
// column has.
func (a *AdminAction) ScopeDetail() string {
	text := a.Scope.String()
	if a.Kind == AdminInterrupt {
		text += "; " + a.Detail()
	}
	return text
}

// ScopePaused tells whether an action on a scope changes the pause that the scope has, nil for
// none: a pause of a paused scope does so if it begins to interrupt.
func (a *AdminAction) ScopePaused(has *journal.Pause) bool {
	switch {
	case a.Kind == AdminResume:
		return has != nil
	case has == nil:
		return true
	}
	return a.Kind == AdminInterrupt && !has.Interrupts
}

// checkNode refuses an action on a node that no store carries out.
func (a *AdminAction) checkNode() error {
	switch {
	case a.Kind != AdminDrain:
		return fmt.Errorf("%s is no action on a node: %w", a.Kind, journal.ErrInvalid)
	case a.Node < 1 || !a.Run.IsZero():
		return fmt.Errorf("an action on node %d and run %s: %w", a.Node, a.Run, journal.ErrInvalid)
	}
	return nil
}

// NodeDetail is what the audit says of an action on a node beside its verb: the node, which no
// column has.
func (a *AdminAction) NodeDetail(name string) string {
	if name == "" {
		return fmt.Sprintf("node %d", a.Node)
	}
	return fmt.Sprintf("node %d, %s", a.Node, name)
}

// checkView refuses an action on a view that no store carries out.
func (a *AdminAction) checkView() error {
	switch {
	case a.Kind != AdminSaveView && a.Kind != AdminDeleteView:
		return fmt.Errorf("%s is no action on a view: %w", a.Kind, journal.ErrInvalid)
	case a.View == nil || !a.Run.IsZero() || a.Scope != nil || a.Node != 0:
		return fmt.Errorf("%s names no view, or something else beside it: %w", a.Kind, journal.ErrInvalid)
	case a.Kind == AdminDeleteView:
		return journal.CheckText("name of a view", a.View.Name, journal.ViewNameBytesMax)
	}
	return a.View.Check()
}

// onView tells whether the action is one on a view.
func (a *AdminAction) onView() bool { return a.Kind == AdminSaveView || a.Kind == AdminDeleteView }

// ViewChange tells whether an action on a view changes it. has is the address of the view with the
// name, if exists; all is how many views there are.
func (a *AdminAction) ViewChange(has string, exists bool, all int) (changed bool, err error) {
	switch {
	case a.Kind == AdminDeleteView && !exists:
		return false, journal.ErrNoView
	case a.Kind == AdminDeleteView:
		return true, nil
	case !exists && all >= journal.ViewsMax:
		return false, &journal.LimitError{What: "saved views", Size: all + 1, Max: journal.ViewsMax, How: "delete some first"}
	}
	return !exists || has != a.View.Address, nil
}

// ViewDetail is what the audit says of an action on a view beside its verb.
func (a *AdminAction) ViewDetail() string {
	if a.Kind == AdminDeleteView {
		return a.View.Name
	}
	return auditText(a.View.Name + ": " + a.View.Address)
}

// OnLimit tells whether the action is about a limit, and about no run.
func (a *AdminAction) OnLimit() bool {
	return a.Kind == AdminSetLimit || a.Kind == AdminRemoveLimit || a.Kind == AdminReleaseClaim
}

// checkLimit refuses an action on a limit that no store carries out.
func (a *AdminAction) checkLimit() error {
	switch {
	case a.Kind != AdminSetLimit && a.Kind != AdminRemoveLimit && a.Kind != AdminReleaseClaim:
		return fmt.Errorf("%s is no action on a limit: %w", a.Kind, journal.ErrInvalid)
	case !a.Run.IsZero() || a.Kind == AdminReleaseClaim && (a.Claim == nil || a.Claim.Node < 0 || a.Claim.ID < 1) || a.Kind != AdminReleaseClaim && a.Limit == nil:
		return fmt.Errorf("%s names no limit and no claim, or a run: %w", a.Kind, journal.ErrInvalid)
	case a.Kind == AdminSetLimit:
		return a.Limit.Check()
	case a.Kind == AdminRemoveLimit:
		if err := journal.CheckName("limit name", a.Limit.Name); err != nil {
			return err
		}
		return journal.CheckKey("limit key", a.Limit.Key)
	}
	return nil
}
