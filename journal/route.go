package journal

import (
	"strconv"
)

// Route is what a node offers to run and a task asks for.
type Route struct {
	Queue    string
	Workflow string
	Version  int32
}

// String returns "queue/workflow/version".
func (r Route) String() string {
	return r.Queue + "/" + r.Workflow + "/" + strconv.Itoa(int(r.Version))
}
