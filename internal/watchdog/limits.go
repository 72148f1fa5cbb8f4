package watchdog

const (
	// stacksBytesMax bounds what one report says: it goes into a log line.
	stacksBytesMax = 64 << 10
	// dumpBytesMax bounds the dump of all goroutines that a report is taken from. A node with very
	// many goroutines may have more; then some stacks are missing from the report.
	dumpBytesMax = 16 << 20
)
