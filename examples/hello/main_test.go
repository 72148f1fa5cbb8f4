package main

import (
	"bytes"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestHello(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made on the way")
	where := "the journal is " + filepath.Join(dir, "reprise.db") + "\n"
	for _, want := range []string{where + "Hello, world!\n", where + "from the run of an earlier start:\nHello, world!\n"} {
		var out bytes.Buffer
		if err := run(t.Context(), "", dir, &out); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != want {
			t.Errorf("printed %q, want %q", got, want)
		}
	}
}
