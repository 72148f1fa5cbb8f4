package journal

import (
	"time"
)

// ListFilter selects runs. Zero fields select everything.
type ListFilter struct {
	IDs       []RunID
	Key       string // exact
	KeyPrefix string
	Workflow  string
	Version   int32
	Status    *Status
	State     *TaskState        // of open runs
	Labels    map[string]string // all must match
	Parent    RunID             // children of this run
	Unchanged string            // open runs whose generation has not taken the new branch of this change
	Since     time.Time         // CreatedAt at or after
	Until     time.Time         // CreatedAt before
	// Where selects by a condition, and may say another order than newest first:
	//
	//	status in ("failed", "blocked") and total > 100 and closed > -2d order by duration desc
	//
	// Package journal/filter has the language, docs/finding-runs.md explains it. Runs must match
	// Where and every other field that is set.
	Where  string
	Cursor string // from the page before; empty for the first
	Limit  int    // at most ListMax; 0 means ListDefault
}

// RunPage is a page of runs, newest first unless ListFilter.Where says another order. Next is empty
// on the last page, and on no other: a page ends before Limit if its runs have large inputs or
// outcomes, whatever the filter, so that it passes a slow network.
type RunPage struct {
	Runs []Run
	Next string
	Now  time.Time // the store's clock
}
