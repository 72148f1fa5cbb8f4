package ui_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSources: the assets were made from the sources and the description of the API as they are.
// That they are what these make is what the test of the bundler's module finds out.
func TestSources(t *testing.T) {
	t.Parallel()
	const folder = "web"
	names := []string{"../../docs/openapi.json", "tsconfig.json"}
	for _, tree := range []string{"src", "lib"} {
		err := filepath.WalkDir(filepath.Join(folder, tree), func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				names = append(names, strings.TrimPrefix(filepath.ToSlash(name), folder+"/"))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(names)
	sum := sha256.New()
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
	}
	made, err := os.ReadFile("assets/sources.sha256")
	if err != nil {
		t.Fatal(err)
	}
	if is := hex.EncodeToString(sum.Sum(nil)); is != strings.TrimSpace(string(made)) {
		t.Errorf("the pages or docs/openapi.json have changed since the assets were made: run go generate ./ui")
	}
}
