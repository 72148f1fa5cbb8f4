package main

import (
	"os"
	"testing"

	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		os.Exit(asChild())
	}
	pgtest.Main(m)
}
