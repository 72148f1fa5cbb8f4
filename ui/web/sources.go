package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// described is the description of the HTTP API.
const described = "../../docs/openapi.json"

// sources returns a sum over everything that assets are made from. It is kept beside them, so that
// a test of package ui, which has no bundler, sees that somebody has not run `go generate ./ui`.
// That test adds up the same: each file's name and length in a line, then what is in it.
func sources(folder string) (string, error) {
	names := []string{described, "tsconfig.json"}
	for _, tree := range []string{"src", "lib"} {
		err := filepath.WalkDir(filepath.Join(folder, tree), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, err = filepath.Rel(folder, name)
			names = append(names, filepath.ToSlash(name))
			return err
		})
		if err != nil {
			return "", err
		}
	}
	slices.Sort(names)
	sum := sha256.New()
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
