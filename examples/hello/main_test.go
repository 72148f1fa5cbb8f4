package main

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestHello(t *testing.T) {
	got, err := run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := "Hello, world!"; got != want {
		t.Errorf("greeting %q, want %q", got, want)
	}
}
