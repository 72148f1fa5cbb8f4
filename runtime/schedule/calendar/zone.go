package calendar

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// zoneNames are the names of the zones that Go comes with, one a line, for suggestions.
//
//go:embed zones.txt
var zoneNames string

// Zones lists the names of the zones of the IANA database that Go came with when this was built.
func Zones() []string { return strings.Fields(zoneNames) }

// loaded keeps zones: time.LoadLocation reads a file each time.
var loaded sync.Map // of *time.Location, by name

// LoadZone returns a zone, UTC for the empty name. The error names zones that may be meant.
func LoadZone(name string) (*time.Location, error) {
	if name == "" || name == "UTC" {
		return time.UTC, nil
	}
	if loc, found := loaded.Load(name); found {
		return loc.(*time.Location), nil
	}
	if name == "Local" {
		return nil, fmt.Errorf("%q differs from machine to machine: name the zone, such as Europe/Berlin", name)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, unknownZone(name)
	}
	loaded.Store(name, loc)
	return loc, nil
}

// unknownZone is the error for a zone that is not there, with suggestions.
func unknownZone(name string) error {
	all := Zones()
	if slices.Contains(all, name) {
		return fmt.Errorf("this machine has no data of the zone %q: import time/tzdata, which embeds it, or install the package tzdata", name)
	}
	if close := closest(name, all); len(close) > 0 {
		return fmt.Errorf("there is no zone %q; did you mean %s?", name, strings.Join(close, ", "))
	}
	return fmt.Errorf("there is no zone %q: it is a name of the IANA database, such as Europe/Berlin or America/New_York", name)
}

// suggestionsMax is how many names an error suggests.
const suggestionsMax = 3

// closest returns the names that a mistyped one may be: whose last part, or all of it, differs in
// at most two letters, the nearest first.
func closest(name string, all []string) []string {
	type near struct {
		name     string
		distance int
	}
	var list []near
	typed := plainZone(name)
	typedCity := typed[strings.LastIndex(typed, "/")+1:]
	for _, z := range all {
		p := plainZone(z)
		city := p[strings.LastIndex(p, "/")+1:]
		d := min(distance(typed, p), distance(typedCity, city)+min(1, strings.Count(typed, "/")))
		if d <= min(2, len(typedCity)/2) {
			list = append(list, near{z, d})
		}
	}
	slices.SortStableFunc(list, func(a, b near) int { return a.distance - b.distance })
	names := []string{}
	for _, n := range list[:min(len(list), suggestionsMax)] {
		names = append(names, n.name)
	}
	return names
}

func plainZone(name string) string {
	return strings.ToLower(strings.NewReplacer(" ", "_", "-", "_").Replace(name))
}

// distance is how many letters must be changed, added or left out to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for k := range row {
		row[k] = k
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for k := range len(b) {
			cost := corner
			if a[i] != b[k] {
				cost++
			}
			corner = row[k+1]
			row[k+1] = min(cost, row[k]+1, row[k+1]+1)
		}
	}
	return row[len(b)]
}
