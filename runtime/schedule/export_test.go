package schedule

import "github.com/reprise-run/reprise/runtime"

// HandleSets registers the workflow of sets alone: what they start is executed by nobody.
func HandleSets(n *runtime.Node) { handleSets(n) }
