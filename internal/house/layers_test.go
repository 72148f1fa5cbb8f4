package main

import (
	"os"
	"strings"
	"testing"
)

// TestLayers holds the module to the map in ARCHITECTURE.md.
func TestLayers(t *testing.T) {
	for _, b := range brokenRules(t) {
		if !strings.Contains(b, ": comment width: ") {
			t.Error(b)
		}
	}
}

// TestCommentWidth is apart from the other rules because breaking it breaks nothing else.
func TestCommentWidth(t *testing.T) {
	for _, b := range brokenRules(t) {
		if strings.Contains(b, ": comment width: ") {
			t.Error(b)
		}
	}
}

func brokenRules(t *testing.T) []string {
	broken, files, err := checkLayers(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if files < 10 {
		t.Fatalf("found %d files: this is not the module", files)
	}
	return broken
}
