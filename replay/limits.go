package replay

// Limits of what one machine does.
const (
	// spendMax bounds how often code may go on in reaction to one event: strands resumed, commands
	// issued, polls that did not block. Real turns need a few; a loop that spins needs without end.
	spendMax = 1_000_000
	// waitingMax bounds Waiting: it is for people.
	waitingMax = 32
)
