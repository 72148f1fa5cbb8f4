package main

import (
	"io/fs"
	"os"
	"path/filepath"
)

// tree is a copy of the module in which mutants are tried, one after the other. The files of the
// module itself are only read, so somebody may go on working on them: the copy keeps what it is.
type tree struct{ root string }

// copyTree copies the module into a temporary folder, without what is not source.
func copyTree(root string) (*tree, error) {
	folder, err := os.MkdirTemp("", "reprise-mutate-")
	if err != nil {
		return nil, err
	}
	t := &tree{folder}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		switch to := filepath.Join(folder, rel); {
		case d.IsDir() && (rel == ".git" || rel == "bin" || rel == filepath.Join("bench", "results")):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(to, 0o755)
		case !d.Type().IsRegular():
			return nil
		default:
			return copyFile(name, to)
		}
	})
	if err != nil {
		t.remove()
		return nil, err
	}
	return t, nil
}

func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode().Perm())
}

// with calls f while the mutant's change is in the tree.
func (t *tree) with(m *mutant, f func()) error {
	name := filepath.Join(t.root, filepath.FromSlash(m.file))
	source, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := os.WriteFile(name, m.apply(source), 0o644); err != nil {
		return err
	}
	f()
	return os.WriteFile(name, source, 0o644)
}

func (t *tree) remove() { _ = os.RemoveAll(t.root) }
