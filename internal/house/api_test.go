package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAPI fails when a public package gains, loses or changes an exported name and api/ does not
// say so. A diff of api/ is what a reviewer, and a reader of a release, sees of a change.
func TestAPI(t *testing.T) {
	t.Parallel()
	m := thisModule(t)
	surfaces := m.surfaces()
	files, err := filepath.Glob(filepath.Join(m.root, apiFolder, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		kept[filepath.Base(file)] = string(text)
	}
	if changes := surfaceChanges(kept, surfaces); len(changes) > 0 {
		t.Errorf("exported names changed and api/ does not say so; if that is what you want, run: make api\n%s", strings.Join(changes, "\n"))
	}
}

// surfaceChanges returns the lines that are in one of two sets of files alone.
func surfaceChanges(old, now map[string]string) []string {
	var changes []string
	only := func(sign string, a, b map[string]string) {
		for name, text := range a {
			for line := range strings.Lines(text) {
				if !slices.Contains(strings.SplitAfter(b[name], "\n"), line) {
					changes = append(changes, fmt.Sprintf("%s: %s %s", name, sign, strings.TrimSpace(line)))
				}
			}
		}
	}
	only("-", old, now)
	only("+", now, old)
	slices.SortStableFunc(changes, func(a, b string) int {
		nameA, _, _ := strings.Cut(a, ":")
		nameB, _, _ := strings.Cut(b, ":")
		return strings.Compare(nameA, nameB)
	})
	return changes
}

// TestSurfaceChanges plants a name that is gone, one that is new and a package that is gone.
func TestSurfaceChanges(t *testing.T) {
	t.Parallel()
	got := surfaceChanges(map[string]string{"p.txt": "func A()\nfunc B()\n", "q.txt": "type T struct\n"}, map[string]string{"p.txt": "func B()\nfunc C()\n"})
	want := []string{"p.txt: - func A()", "p.txt: + func C()", "q.txt: - type T struct"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	same := map[string]string{"p.txt": "func A()\n"}
	if got := surfaceChanges(same, same); len(got) > 0 {
		t.Errorf("nothing changed, yet %q", got)
	}
}

// TestSurface shows what each kind of declaration becomes, and that what cannot be named is left
// out.
func TestSurface(t *testing.T) {
	t.Parallel()
	m := plant(t, map[string]string{"p/p.go": `package p

import "time"

const Limit = 3
const Pi float64 = 3.5
type Kind uint8
const First Kind = 1
var Err error
var hidden int
type base struct{ Shown, unseen int }
func (base) Inherited() {}
type Plain struct { base; Exported time.Duration; secret int }
func (*Plain) Set(n int, more ...string) (time.Time, error) { return time.Time{}, nil }
func (Plain) Get() int { return 0 }
func (Plain) hidden() {}
type Pair[K comparable, V any] struct { Key K; Value V }
func Map[K comparable, V any](in map[K]V, f func(V) V) Pair[K, V] { panic(0) }
type Closed interface { Do(d time.Duration) error; sealed() }
type Same = time.Duration
func helper() {}
`, "p/internal/q/q.go": "package q\nfunc Exported() {}"})
	want := strings.Split(`const First Kind = 1
const Limit untyped int = 3
const Pi float64 = 3.5
field Pair.Key K
field Pair.Value V
field Plain.Exported time.Duration
func Map[K comparable, V any](in map[K]V, f func(V) V) Pair[K, V]
method (*Plain) Set(n int, more ...string) (time.Time, error)
method (Plain) Get() int
method (Plain) Inherited()
method Closed.(an unexported method: only this package implements it)
method Closed.Do(d time.Duration) error
type Closed interface
type Kind uint8
type Pair[K comparable, V any] struct
type Plain struct
type Same = time.Duration
var Err error`, "\n")
	for _, u := range m.units {
		if u.path == "p" {
			if diff := cmp.Diff(want, m.surface(u)); diff != "" {
				t.Errorf("surface (-want +got):\n%s", diff)
			}
		}
	}
	if files := m.surfaces(); len(files) != 1 || files["p.txt"] == "" {
		t.Errorf("files %q, want p.txt alone", files)
	}
}
