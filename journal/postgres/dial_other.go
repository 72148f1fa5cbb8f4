//go:build !linux

package postgres

import (
	"net"
	"time"
)

// setUserTimeout does nothing: the option is Linux's.
func setUserTimeout(*net.TCPConn, time.Duration) error { return nil }
