package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestCurrent: what is committed is what the sources make.
func TestCurrent(t *testing.T) {
	t.Parallel()
	types, err := readTypes(".")
	if err != nil {
		t.Fatal(err)
	}
	same(t, apiFile, types)
	files, err := bundle(".")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		same(t, filepath.Join(assets, name), text)
	}
	there, err := os.ReadDir(assets)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range there {
		if files[f.Name()] == nil {
			t.Errorf("nothing makes %s: remove it", filepath.Join(assets, f.Name()))
		}
	}
}

func same(t *testing.T, name string, want []byte) {
	t.Helper()
	if is, err := os.ReadFile(name); err != nil || !bytes.Equal(is, want) {
		t.Errorf("%s is not what the sources make (%v): run go generate ./ui", name, err)
	}
}

// TestTypes: every kind of schema has its type.
func TestTypes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		s    *schema
		want string
	}{
		{nil, "unknown"},
		{&schema{}, "unknown"},
		{&schema{Ref: "#/components/schemas/Run"}, "Run"},
		{&schema{Type: "integer"}, "number"},
		{&schema{Type: "array", Items: &schema{Type: "string"}}, "Array<string>"},
		{&schema{Type: "object"}, "Record<string, unknown>"},
		{&schema{Type: "object", Additional: &schema{Type: "boolean"}}, "Record<string, boolean>"},
		{&schema{Type: "object", Required: []string{"a"}, Properties: map[string]*schema{"a": {Type: "string"}, "b-c": {}}}, `{ a: string; "b-c"?: unknown; }`},
	} {
		if got := tt.s.typeScript(); got != tt.want {
			t.Errorf("%+v is %s, want %s", tt.s, got, tt.want)
		}
	}
}
