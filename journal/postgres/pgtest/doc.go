// Package pgtest gives tests their Postgres: a fresh, migrated database for each test, or a schema
// in one, a network between client and server that fails on command ([Proxy]), and a checker that
// reads a whole database and knows the guarantees of package journal ([Check]).
//
// The server is that of $REPRISE_TEST_DSN, else a private one that all tests of the binary share.
// Its user must be allowed to create databases.
//
// # What to ask for
//
// A test that needs the journal's tables under their usual name, or sessions that nobody else has,
// takes [New]: a database of its own, copied from a template. One that makes the tables itself
// takes [Empty]. One that goes through the store alone takes [NewSchema], which costs a fraction.
// What New and NewSchema give is checked when the test ends, whatever the test was about, so every
// test of the store is one of the guarantees as well.
//
// # How a client can die
//
// A process that is killed is, for the server, a connection that ends after some message. So it is
// enough to look at the messages: a [Point] is one after which something executes, and a test that
// cuts a connection at each point in turn ([Link.CutWhen], [Link.CutBefore]) has seen every moment
// at which a process can die, as far as the database can tell. Between two points nothing happens
// on the server.
package pgtest
