package main

import (
	"os"
	"testing"
)

// TestLayers holds the module to the map in ARCHITECTURE.md.
func TestLayers(t *testing.T) {
	broken, files, err := checkLayers(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if files < 10 {
		t.Fatalf("found %d files: this is not the module", files)
	}
	for _, b := range broken {
		t.Error(b)
	}
}
