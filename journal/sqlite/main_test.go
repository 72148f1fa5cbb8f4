package sqlite_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain also makes this binary the child process of tests that need one.
func TestMain(m *testing.M) {
	if job := os.Getenv(childEnv); job != "" {
		os.Exit(child(job, os.Getenv(childPathEnv)))
	}
	goleak.VerifyTestMain(m)
}
