package workflow

import "github.com/reprise-run/reprise/journal"

// SetLabels sets labels of the run beside those of its start, or over them, so that listings find
// it by what it has come to know.
//
//	workflow.SetLabels(ctx, map[string]string{"stage": "paid", "country": order.Country})
//
// They are stored by the commit of the turn, together with what the code asks for, and stay through
// [ContinueAsNew] and after the end. They are no part of the history: code cannot read them back —
// [Context.Info] has the labels of the start — and may begin or cease to set them while runs are
// open. Labels that are set often cost a write each time; values that nobody searches for are
// better published, see [Publish].
//
// A run has at most journal.LabelsMax labels: a run that exceeds that is blocked. SetLabels panics
// if a label is not valid.
func SetLabels(ctx Context, labels map[string]string) {
	e := ctx.env()
	if err := journal.CheckLabels(labels); err != nil {
		panic(refused(err))
	}
	changes := make(map[string]*string, len(labels))
	for name, value := range labels {
		changes[name] = &value
	}
	e.Relabel(changes)
}

// RemoveLabels removes labels of the run, as [SetLabels] sets them. One that the run does not have
// is no error; RemoveLabels panics if a name is none that a label may have.
func RemoveLabels(ctx Context, names ...string) {
	e := ctx.env()
	changes := make(map[string]*string, len(names))
	for _, name := range names {
		if err := journal.CheckLabels(map[string]string{name: ""}); err != nil {
			panic(refused(err))
		}
		changes[name] = nil
	}
	e.Relabel(changes)
}
