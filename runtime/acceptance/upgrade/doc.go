// Package upgrade proves that a release can be upgraded with runs in flight. Its testdata holds,
// for each release, the database of a small cluster as SQL, once for each back end, and what its
// histories say. A test restores each, lets this release migrate it, compares every history, and
// finishes every run that was open: with the same code, and the results that were promised.
//
// Dumps are only added to: RELEASING.md says when. A workflow here never changes in a way that
// would diverge from what the dumps hold; a new shape of history gets a new run in the world.
package upgrade
