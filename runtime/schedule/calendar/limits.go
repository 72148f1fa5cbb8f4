package calendar

import "time"

const (
	yearMin = 1970 // of the field year
	yearMax = 2199 // and the end of every search

	linesMax = 100 // cron lines, intervals, lists and exclusions, each: all of them are asked for every slot

	// EveryMin is the shortest interval: slots are whole seconds.
	EveryMin = time.Second
	// EveryMax is the longest one.
	EveryMax = 366 * 24 * time.Hour
	// JitterMax is the longest jitter. What is late for longer belongs into the spec.
	JitterMax = 24 * time.Hour

	// excludedMax is how many excluded times in a row end a search: some ten milliseconds. Whole
	// days that are excluded do not count.
	excludedMax = 1_000_000
)
