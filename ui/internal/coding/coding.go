// Package coding reads what a client says of the codings that it takes.
package coding

import (
	"strconv"
	"strings"
)

// Accepts tells whether a list of codings, as the header Accept-Encoding has it, has one, and does
// not give it the weight zero.
func Accepts(list, coding string) bool {
	for item := range strings.SplitSeq(list, ",") {
		name, weight, _ := strings.Cut(item, ";")
		if strings.TrimSpace(name) != coding {
			continue
		}
		q, weighted := strings.CutPrefix(strings.TrimSpace(weight), "q=")
		f, err := strconv.ParseFloat(q, 64)
		return !weighted || err == nil && f > 0
	}
	return false
}
