package clustertest

import (
	"bytes"
	"sync"
)

// Log is a log that tests can search. Nodes may write to it at the same time.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// String returns all that was logged so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
