package clustertest

import (
	"testing"

	"github.com/reprise-run/reprise/journal/postgres/pgserver"
)

// Server starts a database server that a test may kill and restart. A kill loses nothing that was
// acknowledged, though nothing is flushed to the disk: only the server dies, the machine and its
// page cache do not.
func Server(t *testing.T) *pgserver.Server {
	t.Helper()
	server, err := pgserver.Start(Context(t), &pgserver.Options{
		NoFsync: true, Settings: map[string]string{"synchronous_commit": "on"}, Dir: pgserver.MemoryDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}
