// The command reprise looks into a journal and acts on its runs: see package cli, which a program
// of your own can mount with its code, and docs/reprise.
package main

import "github.com/reprise-run/reprise/cmd/reprise/cli"

func main() { cli.Main(nil) }
