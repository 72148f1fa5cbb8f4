package cli

import (
	"github.com/spf13/cobra"
)

// runGroup has the verbs about runs.
func runGroup(a *app) *cobra.Command {
	g := &cobra.Command{Use: "run", Short: "Find runs, explain them, and act on them"}
	g.AddCommand(runList(a), runCount(a), runFailures(a), runShow(a), runWhy(a), runHistory(a), runKeep(a), runWatch(a), runPublished(a),
		runStart(a), runSignal(a), runUpdate(a), runCancel(a), runTerminate(a), runPause(a), runResume(a), runSetLabels(a), runSetPriority(a), runRetry(a), runReset(a), runFork(a), runSkip(a), runEdit(a), runDelete(a))
	if a.o.Register != nil {
		g.AddCommand(runQuery(a), runReplay(a))
	} else {
		g.AddCommand(needsCode("query"), needsCode("replay"))
	}
	return g
}
