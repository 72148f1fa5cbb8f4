package journal

import "time"

// Aggregate asks for numbers about the runs that a filter selects: how many there are, and how long
// those took that are closed, for each value of the groupings. Without groupings there is one group
// of all of them, or none if no run is selected.
type Aggregate struct {
	Filter ListFilter // its Cursor and Limit are not used, nor is an order in Where
	By     []Grouping // at most GroupingsMax
	// Cap is the runs that are counted at most, AggregateMax at most; 0 means AggregateDefault. It
	// bounds the work on a large table.
	Cap int
	// Histories also asks for what the runs' histories tell: which attempts their steps took. Each
	// run costs some lookups more, so the limits of Cap are HistoriesMax and HistoriesDefault then.
	Histories bool
}

// Grouping says by what runs are grouped: workflow, version, status, queue, priority, a label, or a
// time (created, started or closed) that falls into buckets.
type Grouping struct {
	Field  string        // as in ListFilter.Where; label.NAME or a name that is no field is a label
	Bucket time.Duration // of a time, whole microseconds; buckets begin at multiples of it since 1970
}

// Aggregated is what was counted.
type Aggregated struct {
	Groups []Group // the largest first, at most GroupsMax
	// Runs is how many runs were counted, in groups that are not shown too. Capped says that it is
	// Cap, so there may be more runs, and the groups are of some of them.
	Runs   int
	Capped bool
	Now    time.Time // the store's clock
}

// Group is the runs with the same values of all groupings.
type Group struct {
	// Values stand in the order of the groupings. A time is the beginning of its bucket, as RFC
	// 3339. What a run does not have is empty.
	Values []string
	Runs   int
	Closed int // those that have a duration
	// P50 and P95 are durations that half, and 95 of a hundred, of the closed runs do not exceed:
	// each is that of a run. They are 0 if none is closed.
	P50, P95 time.Duration

	// Steps is how many steps have an outcome in the present generations of the runs, and Attempts
	// how many attempts these took in all. Both are 0 without Aggregate.Histories.
	Steps, Attempts int64
}
