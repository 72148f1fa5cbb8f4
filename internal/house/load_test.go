package main

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

var loadOnce = sync.OnceValues(func() (*module, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return nil, err
	}
	return load(root)
})

// thisModule returns the module that these tests are part of, loaded once for all of them.
func thisModule(t *testing.T) *module {
	t.Helper()
	m, err := loadOnce()
	if err != nil {
		t.Fatal(err)
	}
	if len(m.units) < 10 {
		t.Fatalf("found %d packages: this is not the module", len(m.units))
	}
	return m
}

// plant writes a module with these files and loads it.
func plant(t *testing.T, files map[string]string) *module {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files["go.mod"] = "module example.org/m\n\ngo 1.26\n"
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
