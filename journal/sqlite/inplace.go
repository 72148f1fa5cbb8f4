package sqlite

import (
	"errors"
	"fmt"
	"os"
)

var errReplaced = errors.New("another file has taken the place of the one that is open")

// inPlace refuses to write to a file that is not where it was: it was removed, or another one
// stands in its place, such as a backup. The system keeps the old one for as long as it is open, so
// what is written to it would be acknowledged, and gone with this process (J10).
func inPlace(path string, opened os.FileInfo) error {
	switch now, err := os.Stat(path); {
	case err != nil:
		return lasting(path, "put it back where it was, or end this process", fmt.Errorf("the file cannot be found: %w", err))
	case !os.SameFile(now, opened):
		return lasting(path, "put the one back that was open, or end this process and start it again", errReplaced)
	}
	return nil
}
