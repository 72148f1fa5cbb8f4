package uitest

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Main runs the tests of a package, and ends what they share.
func Main(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	code := m.Run()
	endBrowser()
	if planted.server != nil {
		if err := planted.server.end(); err != nil {
			fmt.Fprintln(os.Stderr, "uitest:", err)
			code = max(code, 1)
		}
	}
	if code != 0 {
		return code // a failed test may leave anything behind
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, "uitest:", err)
		return 1
	}
	return 0
}
