package cli

import (
	"github.com/reprise-run/reprise/ui/record"
)

// payloadText is a payload for people, in one line.
func payloadText(r *record.Payload, max int) string {
	switch {
	case r == nil:
		return ""
	case r.Failure != nil:
		return oneLine(r.Failure.Summary(), max)
	case r.Value != nil:
		return oneLine(string(r.Value), max)
	}
	return oneLine("encoded as "+r.Encoding, max)
}
