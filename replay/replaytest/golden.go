package replaytest

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Golden checks every history in a folder and the folders below it, each in a subtest named after
// its file: see [Check]. Histories are the files that end in .json. It fails if there is none, so
// that a wrong path is no success.
func Golden(t *testing.T, r *Registry, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		files++
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		t.Run(strings.TrimSuffix(filepath.ToSlash(name), ".json"), func(t *testing.T) {
			if err := checkFile(r, path); err != nil {
				t.Error(err)
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Fatalf("no histories in %s", dir)
	}
}

// checkFile is Check for a file, whose name the Mismatch gets.
func checkFile(r *Registry, path string) error {
	h, err := ReadFile(path)
	if err != nil {
		return err
	}
	err = Check(r, h)
	if m, ok := errors.AsType[*Mismatch](err); ok {
		m.File = path
	}
	return err
}
