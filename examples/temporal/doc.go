// Package temporal has programs that people write first on Temporal, and programs that its tests are about, written anew on
// Reprise from what they do. Each file is one program; README.md beside it says what each takes here, and what is not the same.
// The tests run them on package runtimetest: weeks of them take some seconds, and most crash at every turn.
package temporal
