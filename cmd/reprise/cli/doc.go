// Package cli is the command reprise as a library. Programs of your own can have the same tree of
// verbs with what only they have: their store, their codec, their workflows.
//
//	func main() {
//		cli.Main(&cli.Options{Register: func(n *runtime.Node) { runtime.Handle(n, Checkout, checkout, nil) }})
//	}
//
// [Main] is a whole program, [New] the tree for those who have a tree already. With
// Options.Register the verbs are there that need code of workflows: run query and run replay.
//
// # What a verb may do
//
// Verbs that read take no lock, make and migrate nothing, and need no right but to read: on
// Postgres the grants of docs/operating-postgres.md, on SQLite a file, which a program may have
// open. Verbs that write act through [runtime.Client], so what they do is what a program could do,
// with the same guarantees; on SQLite the file must be free, because one process writes. The verbs
// of bulk are a node as well while they wait, for their jobs alone, and so is ui. No verb but
// migrate up and demo changes tables. A database that is older or newer than the command is refused
// before anything is asked of it.
//
// # What a verb says
//
// On standard output there is the result and nothing else: a table, or with -o json and -o jsonl
// records whose fields docs/reprise/json.md lists. They are types of package ui/record, which
// the HTTP API answers with too, and of this one. Errors, notes and questions
// are on standard error. The exit codes are the constants Exit….
//
// What comes out of the store is text of strangers: control characters in it are not sent to a
// terminal, see clean.
package cli
