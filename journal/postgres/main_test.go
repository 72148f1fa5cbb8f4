package postgres_test

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// testsPerProcessor is how many tests run at once: most wait for the server, for a child process or
// for a deadline, so one test a processor would leave the processors idle.
const testsPerProcessor = 3

// TestMain also makes this binary the child process of tests that need one.
func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		os.Exit(child(name))
	}
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		if err := flag.Set("test.parallel", strconv.Itoa(testsPerProcessor*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	pgtest.Main(m)
}
