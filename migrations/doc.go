// Package migrations holds the SQL files that make and change the tables of the journal, and the
// rules by which they are applied. It touches no database: a driver reads what was applied, asks
// [Pending], and executes the answer in one transaction under a lock.
//
// Files are forward only and named 0007_add_inbox.sql. A released file never changes: its checksum
// is recorded, and a difference is an error. Their first line is "-- additive" if the release
// before can go on working on the changed tables, else "-- breaking". Two releases run side by side
// while a cluster is updated, so breaking files are for the release after the next.
//
// This is a runner of our own, because the well-kept libraries neither checksum what they applied
// nor take the schema's name as a parameter.
package migrations
