package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// tier is a run of tests. The tiers of a package stand cheapest first.
type tier struct {
	packages []string
	run      string // the tests, as `go test -run` wants them; all if empty
	skip     string // those of them that do not run, as `go test -skip` wants them
}

func (t tier) String() string {
	text := strings.Join(t.packages, " ")
	if t.run != "" {
		text += " -run " + t.run
	}
	if t.skip != "" {
		text += " -skip " + t.skip
	}
	return text
}

// guard says which tests claim to notice a fault in the packages of a folder.
type guard struct {
	folder string // or a pattern of folders
	tiers  []tier
}

// The engine's tests, which each part of it is guarded by. Of the simulator's only those that
// simulate: those of the simulator itself say nothing about a mutant.
var (
	nodes      = tier{packages: []string{"./runtime", "./runtime/internal/..."}}
	sim        = tier{packages: []string{"./runtime/sim"}, run: "^(TestSeeds|TestLanguage|TestVerbs)$"}
	acceptance = tier{packages: []string{"./runtime/acceptance"}}
)

// statements is where a statement is prepared: a mutant that fails there is no SQL.
var statements = tier{packages: []string{"./journal/postgres"}, run: "^TestStatements$"}

// slow are the tests of journal/postgres that kill processes and servers, or run everything once
// more at a distance.
const slow = "^(TestCrashPoints|TestStoreBehindAPooler|TestFrozen|TestConnectionsAreCut|TestEveryConnection|TestJ10_)"

// guards are the packages that samples are drawn from, unless the caller names some.
var guards = []guard{
	{"actor", []tier{{packages: []string{"./actor"}}, nodes, sim, acceptance}},
	{"replay", []tier{{packages: []string{"./replay/..."}}, {packages: []string{"./actor"}}, sim}},
	{"replay/internal/*", []tier{{packages: []string{"./replay/..."}}, sim}},
	{"runtime", []tier{{packages: []string{"./runtime"}}, sim, acceptance}},
	{"runtime/internal/*", []tier{nodes, sim, acceptance}},
	{"journal/postgres", []tier{
		{packages: []string{"./journal/postgres"}, run: "^TestStore$/^Contract$"},
		{packages: []string{"./journal/postgres"}, run: "^TestStore$/^(Amid|Model)$"},
		{packages: []string{"./journal/postgres"}, skip: slow + "|^TestStore$"},
		{packages: []string{"./journal/postgres"}, run: slow},
		{packages: []string{"./runtime/acceptance"}}}},
}

// guarded is a folder and the tests of its guard.
type guarded struct {
	folder string
	tiers  []tier
}

// guardedFolders returns the folders of the guards; only those that are named, if any are.
func guardedFolders(root string, named []string) ([]guarded, error) {
	var all []guarded
	for _, g := range guards {
		found, err := filepath.Glob(filepath.Join(root, g.folder))
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			folder, err := filepath.Rel(root, f)
			if err != nil {
				return nil, err
			}
			if folder = filepath.ToSlash(folder); holdsGo(f) && (len(named) == 0 || slices.Contains(named, folder)) {
				all = append(all, guarded{folder, g.tiers})
			}
		}
	}
	for _, n := range named {
		if !slices.ContainsFunc(all, func(g guarded) bool { return g.folder == n }) {
			return nil, fmt.Errorf("folder %q has no guard: name one of %s, or add it to internal/mutate/guards.go", n, strings.Join(folders(), ", "))
		}
	}
	return all, nil
}

func folders() []string {
	var names []string
	for _, g := range guards {
		names = append(names, path.Clean(g.folder))
	}
	return names
}

func holdsGo(folder string) bool {
	entries, err := os.ReadDir(folder)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), ".go") })
}
