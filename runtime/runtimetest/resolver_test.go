package runtimetest_test

import (
	"net"
	"testing"

	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// TestNames: two tests look a name up, as a driver does for the address of its database. Without
// resolveOutside the second one ends the process.
func TestNames(t *testing.T) {
	for range 2 {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			if _, err := net.DefaultResolver.LookupHost(e.Context(), "localhost"); err != nil {
				e.Error(err)
			}
			c, err := net.Dial("tcp", "localhost:1")
			if err == nil {
				c.Close()
			}
		})
	}
}
