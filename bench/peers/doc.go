// Command peers runs the same workloads on Reprise and on other durable-execution products for Go, on one Postgres
// server or on what they bring along, and prints one table.
//
//	go run . -rounds 3
//
// Every measurement is a process of its own on a fresh clone of a migrated database: nothing that one engine leaves
// behind meets another. Engines take turns within a round, so that whatever else the machine does hits all of them,
// and the table shows medians of the rounds.
//
// The workloads are written once (see Body): a run gets a small JSON input, its steps add one to a number, and the
// result of every run is compared with what it must be. An engine is a file that implements Engine and System.
package main
