package watchdog

import (
	"fmt"
	goruntime "runtime"
	"strings"
)

// restingCoroutine begins the state of a goroutine that belongs to an iter.Pull coroutine and does
// not execute: it is parked, or it waits for a coroutine that it has resumed.
const restingCoroutine = "[coroutine"

// stacks returns the stacks of the goroutines that execute something below frame, which is part of
// a function's or a file's name. They are found in a dump of all goroutines, because nothing else
// tells which goroutine executes a given run. The world stops while the dump is taken, which is
// acceptable because it happens only after work was late.
func stacks(frame string) string { return filter(dump(), frame) }

// StackOf returns the stack of one goroutine; empty if it has ended, or if there are very many. The
// world stops as for a report, so it is for what has gone wrong.
func StackOf(id int64) string {
	all, head := dump(), fmt.Sprintf("goroutine %d [", id)
	for g := range strings.SplitSeq(all, "\n\n") {
		if strings.HasPrefix(g, head) {
			return g[:min(len(g), stacksBytesMax)]
		}
	}
	return ""
}

// dump has the stacks of all goroutines.
func dump() string {
	buf := make([]byte, dumpBytesMax/16)
	for {
		n := goruntime.Stack(buf, true)
		if n < len(buf) || len(buf) >= dumpBytesMax {
			return string(buf[:n])
		}
		buf = make([]byte, 2*len(buf))
	}
}

// filter keeps the goroutines of a full dump that execute frame, within stacksBytesMax.
func filter(dump, frame string) string {
	var b strings.Builder
	for g := range strings.SplitSeq(dump, "\n\n") {
		state, _, _ := strings.Cut(g, "\n")
		resting := strings.Contains(state, restingCoroutine)
		if strings.Contains(g, frame) && !resting && b.Len()+len(g) < stacksBytesMax {
			b.WriteString(g)
			b.WriteString("\n\n")
		}
	}
	return b.String()
}
