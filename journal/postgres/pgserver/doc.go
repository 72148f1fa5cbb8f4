// Package pgserver runs a private Postgres in a temporary folder, from binaries that are already
// installed. Examples, benchmarks and tests use it when nobody gives them a database.
//
// The server listens on a free loopback TCP port and on nothing else. Three processes take part:
// this one, the postmaster (its child) and a small supervising shell. The shell reads from a pipe
// that only this process can write to. When the pipe closes, for whatever reason, including kill -9
// of this process, the shell stops the server and removes the folder: nothing stays behind.
package pgserver
