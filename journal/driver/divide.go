package driver

import "github.com/reprise-run/reprise/journal"

// inBatches calls fn for pieces of at most BatchMax out of n.
func inBatches(n int, fn func(from, to int) error) error {
	for from := 0; from < n; from += journal.BatchMax {
		if err := fn(from, min(from+journal.BatchMax, n)); err != nil {
			return err
		}
	}
	return nil
}
