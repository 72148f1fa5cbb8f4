package schedule

import (
	"time"

	"github.com/reprise-run/reprise/journal"
)

const (
	nameBytesMax       = 100     // of a set and of a schedule: both are in a label and in a key
	setMax             = 10_000  // schedules of a set: one turn starts them all, and its run keeps their names
	definitionBytesMax = 8 << 10 // of a schedule without its input: it is published, see journal.PublishedBytesMax
	changeBytesMax     = 1 << 20 // of one schedule with its input, and of one message of a change
	textBytesMax       = 500     // of a note or a reason: both are published

	// partsMax bounds the messages of one change: until it is made, its set's run has them in
	// memory and in its history.
	partsMax = 16
	// gatheredMax bounds the changes of which parts have come: more callers than change one set
	// at a time.
	gatheredMax = 4
	// partsWait is how long a set waits for the rest of a change. All but the last message are
	// there before that is sent, so what does not come within it was lost with its caller.
	partsWait = time.Minute
	// effectsMax is how many schedules one change starts, changes and removes: each is one effect
	// of its commit, and the answer is one, too.
	effectsMax = journal.CommitEffectsMax - 100

	// CatchUpDefault is the window of a schedule that names none. What is late for longer is more
	// often a surprise than a help.
	CatchUpDefault = time.Hour
	catchUpMax     = 31 * 24 * time.Hour
	// catchUpMaxRuns is how many missed slots start at once, at most: they are one commit.
	catchUpMaxRuns = 1_000

	bufferDefault = 100
	bufferMax     = 1_000 // slots that wait for the run before: they are in the state of the schedule's run

	// countMax is how far slots are counted that do not run: a schedule that was away for a year
	// has not to count the seconds of it.
	countMax = 1_000

	// lookedMax is how many slots a schedule looks at from the one on that it decided last: as many
	// as it may start or buffer, and as many as it counts.
	lookedMax = 2 * countMax

	backfillsMax = 10  // of one schedule at a time
	backfillStep = 100 // runs that a backfill starts at once
	// backfillPace is how long a backfill waits that starts its runs all at once, after each
	// backfillStep.
	backfillPace = time.Second

	openShown   = 10    // runs that are named in what a schedule publishes
	openTracked = 1_000 // open runs whose ends a schedule hears of

	// recheck is how long ahead of a slot a schedule looks again when it is: the rules of zones
	// change.
	recheck = 24 * time.Hour

	// overdueMax is how many turns a generation goes on whose history is long, because a run is
	// open: the next one does not hear of its end, and has to ask.
	overdueMax = 1_000
	// lookPace is how often that one asks while something waits for the end of such a run.
	lookPace = 10 * time.Second

	patienceMax = 10 * time.Second // the longest wait before a step is tried again while the store is away
	listPage    = 500
)
