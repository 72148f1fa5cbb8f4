// Package memory keeps a journal in memory. It is the third driver and the reference: what package journal promises, it does in
// the plainest way, and the model of package journaltest compares the other drivers with it.
package memory
