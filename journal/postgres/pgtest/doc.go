// Package pgtest gives tests their Postgres: a fresh, migrated database for each test, or a schema
// in one, a network between client and server that fails on command ([Proxy]), and a checker that
// reads a whole database and knows the guarantees of package journal ([Check]).
//
// The server is that of $REPRISE_TEST_DSN, else a private one that all tests of the binary share.
package pgtest
