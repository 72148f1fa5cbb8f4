package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
}

// run does one command in the module that the working folder is the root of.
func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("which command? graph, measure or api")
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	m, err := load(root)
	if err != nil {
		return err
	}
	switch args[0] {
	case "graph":
		return printGraphs(m, args[1:])
	case "measure":
		return printMeasures(os.Stdout, m)
	case "api":
		return writeSurfaces(m)
	default:
		return fmt.Errorf("unknown command %q: graph, measure or api", args[0])
	}
}

// printGraphs prints the imports of all packages, then the uses between the files of those named;
// if none is, of those that may have no circle.
func printGraphs(m *module, folders []string) error {
	if len(folders) == 0 {
		fmt.Println("packages: height, package → what it imports")
		printGraph(os.Stdout, m.packageGraph())
	}
	for _, u := range m.units {
		if named := slices.Contains(folders, u.path); named || len(folders) == 0 && withoutCircles(u.path) {
			fmt.Printf("\nfiles of %s: height, file → files that it calls or whose values it reads\n", u.path)
			printGraph(os.Stdout, m.fileGraph(u, false))
		}
	}
	return nil
}

// withoutCircles tells whether the files of a package may have no circle.
func withoutCircles(folder string) bool {
	return folder == "actor" || folder == "replay" || folder == "runtime" || strings.HasPrefix(folder, "runtime/internal/")
}
