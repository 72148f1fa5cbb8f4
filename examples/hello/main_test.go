package main

import "testing"

func TestHello(t *testing.T) {
	got, err := run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := "Hello, world!"; got != want {
		t.Errorf("greeting %q, want %q", got, want)
	}
}
