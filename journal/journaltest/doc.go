// Package journaltest checks implementations of journal.Store against the guarantees of package
// journal. A back end's test is one call:
//
//	func TestStore(t *testing.T) {
//		journaltest.Run(t, func(t *testing.T) journal.Store { return open(t) })
//	}
package journaltest
