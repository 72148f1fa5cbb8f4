package replaytest

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Golden checks every history in a folder and the folders below it, each in a test of its own: see Check. Files are those that
// end in .json; it fails if there is none.
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
