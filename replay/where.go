package replay

import (
	"runtime"
	"strconv"
	"strings"
)

// module is the import path above this package; frames of the machine and of the authoring API are
// not the user's.
const module = "github.com/reprise-run/reprise/replay"

// callerFrame returns file:line of the user's call that led here.
func callerFrame() string {
	var pcs [64]uintptr
	return userFrame(pcs[:runtime.Callers(2, pcs[:])])
}

// userFrame returns file:line of the innermost frame of user code.
func userFrame(pcs []uintptr) string {
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		if f.File != "" && !ours(f) {
			return f.File + ":" + strconv.Itoa(f.Line)
		}
		if !more {
			return ""
		}
	}
}

func ours(f runtime.Frame) bool {
	if strings.HasSuffix(f.File, "_test.go") {
		return false
	}
	pkg := f.Function
	slash := strings.LastIndexByte(pkg, '/')
	// A generic function's type arguments may hold slashes; they stand in brackets.
	if open := strings.IndexByte(pkg, '['); open >= 0 {
		slash = strings.LastIndexByte(pkg[:open], '/')
	}
	if dot := strings.IndexByte(pkg[slash+1:], '.'); dot >= 0 {
		pkg = pkg[:slash+1+dot]
	}
	switch pkg {
	case module, module + "/workflow", module + "/internal/coro", "runtime", "iter", "runtime/debug":
		return true
	}
	return false
}
