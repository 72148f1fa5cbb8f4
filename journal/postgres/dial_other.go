//go:build !linux

package postgres

import (
	"net"
	"time"
)

// setUserTimeout does nothing: the option is Linux's.
func setUserTimeout(*net.TCPConn, time.Duration) error { return nil }

// roundTripOf knows nothing: the question is Linux's.
func roundTripOf(*net.TCPConn) (time.Duration, bool) { return 0, false }
