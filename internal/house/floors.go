package main

import (
	"path"
	"slices"
	"strings"
)

// topFolders are the only folders beside the documents, each with its height. Tests may import what
// is not higher than they are; production code is held to the floors.
var topFolders = map[string]int{
	"internal": 0, "migrations": 1, "journal": 2, "replay": 3, "actor": 4, "runtime": 5, "ui": 6, "cmd": 7, "bench": 7, "examples": 7,
	".": 8, // the documentation of the module, with its examples
}

// noCode are top folders without Go: nothing can be imported from them.
var noCode = []string{"api", "docs"}

// floor says what the production code of one folder may import from this module. The floor of a
// package is the one with the longest folder that holds it.
type floor struct {
	folder string
	may    []string // a folder, or with "/..." a folder and what is below it
	why    string   // shown to those who break it
}

// drivers is what each driver may import: a driver knows the SPI and not its neighbours.
var drivers = []string{"internal/...", "migrations", "migrations/...", "journal", "journal/driver", "journal/filter", "journal/internal/..."}

const driversWhy = "a driver may not import another driver: a second user of its code means that the code belongs into journal"

// floors stand bottom first.
var floors = []floor{
	{"internal", []string{"internal/..."}, "internal is the bottom floor: its tools know nothing of runs and events"},
	{"migrations", []string{"internal/...", "migrations/..."}, "migrations know SQL files and a connection, nothing of what is stored"},
	{"journal", []string{"internal/...", "journal/internal/..."},
		"journal holds facts: it may not import who fills it or who reads it, both stand on it"},
	{"journal/filter", []string{"internal/...", "journal"}, "a filter says what runs it means, and knows no database that finds them"},
	{"journal/driver", []string{"internal/...", "journal", "journal/filter"},
		"the SPI knows facts and no database: what two drivers share belongs here, what one needs into that driver"},
	{"journal/postgres", drivers, driversWhy},
	{"journal/sqlite", drivers, driversWhy},
	{"journal/memory", drivers, driversWhy},
	{"replay", []string{"internal/...", "replay/internal/...", "journal"},
		"replay may not import its drivers or the language that is built on it: it is a function of its events"},
	{"replay/internal", []string{"internal/...", "replay/internal/..."}, "a trick of replay knows nothing of histories"},
	{"replay/workflow", []string{"internal/...", "replay/internal/...", "journal", "replay"},
		"workflow is what authors import: it sees the machine and no engine"},
	{"replay/workflow/flow", []string{"journal", "replay", "replay/workflow"},
		"a flow is workflow code like that of users: it may use the verbs, and nothing below them but what they are made of"},
	{"actor", []string{"internal/...", "journal", "journal/driver", "replay"},
		"actor runs machines of one node: it may not import the node, the language or a back end"},
	{"runtime/internal", []string{"internal/...", "runtime/internal/...", "journal", "journal/driver", "replay", "replay/workflow", "actor"},
		"a part of a node may not import runtime: the face stands on its parts"},
	{"runtime", []string{"internal/...", "runtime/internal/...", "journal", "journal/driver", "replay", "replay/workflow", "actor"},
		"back ends are chosen at the top: by whoever opens a node"},
	{"runtime/bulk", []string{"journal", "journal/filter", "replay/workflow", "runtime", "runtime/internal/once"},
		"a bulk job is a workflow like those of users: it may use what they have, what lets its actions happen once, and no engine"},
	{"runtime/flows", []string{"journal", "replay/workflow", "replay/workflow/flow", "runtime"},
		"what stores and draws flows is a user of a client: it may use what users have, and no engine"},
	{"runtime/gather", []string{"journal", "replay/workflow", "runtime"},
		"collectors are workflows like those of users: they may use what these have, and no engine"},
	{"runtime/schedule", []string{"journal", "journal/filter", "replay/workflow", "runtime", "runtime/schedule/..."},
		"schedules are workflows like those of users: they may use what these have, and no engine"},
	{"runtime/schedule/calendar", nil, "a calendar computes: it knows no store, no run and no clock"},
	{"ui", []string{"internal/...", "journal", "journal/driver", "journal/filter", "replay", "replay/workflow", "replay/workflow/flow", "runtime", "runtime/bulk",
		"runtime/flows", "runtime/schedule", "runtime/schedule/calendar", "ui/..."},
		"ui is for programs of users: it knows a client and no back end, and pulls no command into their builds"},
	{"ui/record", []string{"journal", "journal/driver", "replay/workflow/flow", "runtime", "runtime/bulk", "runtime/flows", "runtime/schedule", "runtime/schedule/calendar"},
		"records are what tools say: they know the facts that they are made from, and nobody who shows them"},
	{"cmd", append([]string{"cmd/...", "ui/..."}, top6...), "programs do not import each other"},
	{"bench", append([]string{"bench/..."}, top6...), "programs do not import each other"},
	{"examples", append([]string{"examples/...", "ui/..."}, top6...), "programs do not import each other"},
	{".", nil, "the root package is documentation: it may not make its readers build anything"},
}

// top6 is what programs may import: every floor below them.
var top6 = []string{"internal/...", "migrations", "migrations/...", "journal/...", "replay/...", "actor", "runtime/..."}

// reasons are shown instead of a floor's when one of these is imported where it may not be.
var reasons = []struct{ folder, why string }{
	{"journal/postgres", "back ends are chosen at the top"},
	{"journal/sqlite", "back ends are chosen at the top"},
	{"journal/memory", "back ends are chosen at the top"},
	{"migrations", "migrations belong to the back ends"},
}

// forTests are folders for tests that are not called …test.
var forTests = []string{"runtime/acceptance"}

// floorOf returns the floor that folder is on. The root, which comes last, holds all.
func floorOf(folder string) floor {
	for {
		if i := slices.IndexFunc(floors, func(f floor) bool { return f.folder == folder }); i >= 0 {
			return floors[i]
		}
		folder = path.Dir(folder)
	}
}

// allows tells whether the floor lets its packages import to.
func (f floor) allows(to string) bool {
	return slices.ContainsFunc(f.may, func(pattern string) bool {
		below, tree := strings.CutSuffix(pattern, "/...")
		return to == pattern || tree && under(to, below)
	})
}

// reason says why from may not import to, which the floor does not allow.
func (f floor) reason(from, to string) string {
	if !isDriver(from) {
		for _, r := range reasons {
			if under(to, r.folder) {
				return r.why
			}
		}
	}
	return f.why
}

func isDriver(folder string) bool {
	return slices.ContainsFunc([]string{"journal/postgres", "journal/sqlite", "journal/memory"}, func(d string) bool { return under(folder, d) })
}

// inHelper tells whether a folder is a package for tests, or inside one.
func inHelper(folder string) bool {
	named := slices.ContainsFunc(strings.Split(folder, "/"), func(part string) bool { return strings.HasSuffix(part, "test") })
	return named || slices.ContainsFunc(forTests, func(f string) bool { return under(folder, f) })
}

func top(folder string) string {
	first, _, _ := strings.Cut(folder, "/")
	return first
}

func under(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }
