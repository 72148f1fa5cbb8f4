package replay

// Limits of what one machine does.
const (
	// actionsMax bounds how often code may go on in reaction to one event: strands resumed,
	// commands issued, polls that did not block. Real turns need a few; a loop that spins needs
	// without end.
	actionsMax = 1_000_000
	// updatesMax bounds the updates without an answer: the end of a generation answers all of them
	// in one commit, beside what else the turn does, see journal.CommitEffectsMax.
	updatesMax = 10_000
	// waitingMax bounds Waiting: it is for people.
	waitingMax = 32
	// causesMax is how many causes below each other FailureOf follows: the journal cuts there as
	// well.
	causesMax = 16
	// panicTextMax bounds what a panic's value says: the line, which comes after it, must be seen.
	panicTextMax = 4 << 10
	// failuresMax bounds the causes and details of one failure: with the journal's limit of each
	// text they stay below the default limit of a payload, so a failed run can always be closed.
	failuresMax = 32
	// detailBytesMax bounds the details of one error of a registered type: all of them together are
	// less than half of what the texts of a failure may be.
	detailBytesMax = 8 << 10
	// matchesMax bounds how many registered values one error is.
	matchesMax = 8
	// refusedMax bounds how many waits of one turn are refused: code may call again and again.
	refusedMax = 1000
	// framesMax bounds how deep below a wait the user's call may be for Stuck to name its line.
	// Each strand that waits for other strands keeps an array of this length.
	framesMax = 24
)
