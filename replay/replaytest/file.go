package replaytest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile keeps a history, and makes the folder if it is missing. It fails if the file holds
// another history: a file stands for runs that somebody may still have, so it is never replaced.
func WriteFile(name string, h *History) error {
	data, err := Marshal(h)
	if err != nil {
		return err
	}
	if old, err := os.ReadFile(name); err == nil {
		if bytes.Equal(old, data) {
			return nil
		}
		return fmt.Errorf("%s holds another history, for which the code must still be good: write the new one to another file", name)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}

// Keep writes a history if there is no file of that name, and tells whether it did. It is for tests
// that record what they have none of: each run of a test has a history of its own, with other ids,
// so the ones that are there already stay as they are.
func Keep(name string, h *History) (kept bool, err error) {
	switch _, err := os.Stat(name); {
	case err == nil:
		return false, nil
	case !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	return true, WriteFile(name, h)
}

// ReadFile reads what WriteFile wrote. Its errors name the file.
func ReadFile(name string) (*History, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	h, err := Unmarshal(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return h, nil
}
