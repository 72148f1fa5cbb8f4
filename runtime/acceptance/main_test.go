package acceptance_test

import (
	"os"
	"testing"

	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

func TestMain(m *testing.M) {
	if dsn := os.Getenv(workerEnv); dsn != "" {
		os.Exit(workerMain(dsn))
	}
	pgtest.Main(m)
}
