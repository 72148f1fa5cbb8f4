// Package temporal has programs that people write first on Temporal, or that its samples and tests
// are about, written anew on Reprise. Each file is one program. README.md lists what each of them
// shows and where Reprise differs. Their tests run them, weeks of them in seconds of virtual time,
// and most of them with a crash at every turn:
//
//	go test ./examples/temporal
package temporal
