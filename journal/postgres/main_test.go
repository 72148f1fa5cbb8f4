package postgres_test

import (
	"os"
	"testing"

	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// TestMain also makes this binary the child process of tests that need one.
func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		os.Exit(child(name))
	}
	pgtest.Main(m)
}
