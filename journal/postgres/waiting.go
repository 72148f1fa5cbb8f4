package postgres

import (
	"strings"
	"time"
)

// A run that sleeps waits for a line that ends with the time at which its task becomes visible,
// which the row has already. The time would be a fifth of the row of a parked run, of which there
// may be millions, so it is kept as a mark. A line that ends with the mark by itself has it twice,
// so that every line is read as it was written.
const waitingMark = " @"

// joinWaiting returns the lines as a row keeps them; at is when the task becomes visible, zero if
// not by time.
func joinWaiting(lines []string, at time.Time) string {
	if len(lines) == 0 {
		return ""
	}
	stored, due := make([]string, len(lines)), waitingTime(at)
	for i, line := range lines {
		kind, dated := strings.CutSuffix(line, due)
		switch {
		case dated && due != "":
			stored[i] = kind + waitingMark
		case strings.HasSuffix(line, waitingMark):
			stored[i] = line + waitingMark
		default:
			stored[i] = line
		}
	}
	return strings.Join(stored, "\n")
}

// splitWaiting reads what joinWaiting wrote. If a message has made the task visible meanwhile, the
// time is that of the message.
func splitWaiting(stored string, at time.Time) []string {
	if stored == "" {
		return nil
	}
	lines := strings.Split(stored, "\n")
	for i, line := range lines {
		if kind, marked := strings.CutSuffix(line, waitingMark); marked {
			lines[i] = kind
			if !strings.HasSuffix(kind, waitingMark) {
				lines[i] += waitingTime(at)
			}
		}
	}
	return lines
}

// waitingTime is a time as the end of a line.
func waitingTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return " " + at.UTC().Format(time.RFC3339Nano)
}
