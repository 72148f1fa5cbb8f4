package schedule

import "github.com/reprise-run/reprise/replay/workflow"

// refusal is why something that a run was told has not been done.
type refusal string

func (r refusal) Error() string { return string(r) }

// checked refuses what a run was told if Apply would have refused it: whoever may send messages can
// send one without Apply. The answer is recorded, because another release may have other limits.
func checked(ctx workflow.Context, what string, check func() error) error {
	why := workflow.SideEffect(ctx, "check", func() string {
		if err := check(); err != nil {
			return clip(err.Error())
		}
		return ""
	})
	if why == "" {
		return nil
	}
	return refuse(ctx, what, why)
}

// refuse refuses what a run was told.
func refuse(ctx workflow.Context, what, why string) error {
	workflow.Log(ctx).Warn("schedule: a change was refused", "of", what, "err", why)
	return refusal(why)
}
