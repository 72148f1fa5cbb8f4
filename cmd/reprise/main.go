// The command reprise looks into a journal and acts on its runs: see package cli, which a program
// of your own can mount with its code, and docs/reprise.
package main

import (
	_ "time/tzdata" // for schedules, on machines without the zones

	"github.com/reprise-run/reprise/cmd/reprise/cli"
)

func main() { cli.Main(nil) }
