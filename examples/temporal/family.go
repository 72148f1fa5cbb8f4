package temporal

import (
	"context"

	"github.com/reprise-run/reprise/replay/workflow"
)

// A Family is a run with three children that are open when it closes. By their close policies one
// is cancelled and tidies up, one is terminated at once, and one continues.
const (
	Family    workflow.Name[string, string] = "family"
	Member    workflow.Name[string, string] = "family.member"
	FamilyEnd workflow.Signal[string]       = "family.end"
	MemberEnd workflow.Signal[string]       = "family.member.end"
)

func family(ctx workflow.Context, name string) (string, error) {
	start := func(who string, o workflow.ChildOptions) {
		o.Key = name + "/" + who
		workflow.CallAsync(ctx, Member, who, &o)
	}
	start("asked", workflow.ChildOptions{}) // the default is CloseCancel
	start("closed", workflow.ChildOptions{OnParentClose: workflow.CloseTerminate})
	// OnParentClose is about the end of the parent. Without OnCancel, a cancellation of the parent
	// would cancel this child as well.
	start("alone", workflow.ChildOptions{OnParentClose: workflow.CloseAbandon, OnCancel: workflow.Abandon})
	return FamilyEnd.Receive(ctx)
}

func member(ctx workflow.Context, who string) (string, error) {
	why, err := MemberEnd.Receive(ctx)
	if err != nil {
		return "", tidy(ctx, who, err)
	}
	return who + ": " + why, nil
}

// tidy is the clean-up of a cancelled member.
func tidy(ctx workflow.Context, who string, err error) error {
	if failed := workflow.Do(workflow.Shield(ctx), "tidy up", func(context.Context) error { return nil }, nil); failed != nil {
		return failed
	}
	return err
}
