// Package pgserver runs a private Postgres in a temporary folder, from binaries that are already
// installed. Examples, benchmarks and tests use it when nobody gives them a database. It is no way
// to run a production database: nothing backs it up, and it goes away with its process.
//
// The binaries are those of the folder that $REPRISE_PG_BIN names, else of pg_config, else the
// newest that Debian or Ubuntu have installed, else those in PATH. Where the process is root, the
// server runs as the user postgres, or nobody, because Postgres refuses to run as root.
//
// [StartPooler] puts a PgBouncer that is installed before a server, for tests of what it changes.
//
// The server listens on a free loopback TCP port and on nothing else; it trusts whoever connects
// there. Three processes take part: this one, the postmaster (its child) and a small supervising
// shell. The shell reads from a pipe that only this process can write to. When the pipe closes, for
// whatever reason, including kill -9 of this process, the shell stops the server and removes the
// folder: nothing stays behind.
package pgserver
