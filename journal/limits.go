package journal

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits of what is stored. Each is checked before anything is written.
const (
	NameBytesMax       = 255      // workflow, queue, step, timer and signal names: they are index keys and log fields
	KeyBytesMax        = 512      // keys of runs and messages: they are index keys, far under a B-tree page's third
	LabelsMax          = 32       // a run's labels are copied into every listing
	LabelKeyBytesMax   = 64       //
	LabelValueBytesMax = 255      //
	PayloadBytesMax    = 2 << 20  // default limit of a payload after encoding, as in Temporal
	PayloadBytesCap    = 64 << 20 // the option's own limit: a batch must fit in memory and in a protocol message
	CommitEventsMax    = 10_000   // one turn's events travel in one statement
	IssuedBytesMax     = 64 << 20 // what code asks for in reaction to one event is one text, with the values that it records
	CommitEffectsMax   = 20_000   // children, messages and replies of one turn: they are written in one transaction
	BatchMax           = 1_000    // members of one Start, Send, Commit or Load call
	ListMax            = 1_000    // runs in a page
	ListDefault        = 100      //
	AttemptsMax        = 10_000   // steps of one run that can be in retry at once
	PriorityMin        = 1        // claimed first
	PriorityMax        = 5        // claimed last; the claim statement visits each
	PriorityDefault    = 3        //
	InboxLoadMax       = 1_000    // messages of a run in one load; the owner comes back for more
	AttentionMax       = 1_000    // runs with messages in one claim's answer
	DelayMax           = 100 * 365 * 24 * time.Hour
	TraceBytesMax      = 255
)

// DefaultQueue is the queue of runs that name none.
const DefaultQueue = "default"

// CheckName refuses names that are empty, too long, not UTF-8 or hold control characters.
func CheckName(what, s string) error {
	if s == "" {
		return &TextError{What: what, Text: s, Why: "is empty"}
	}
	return checkText(what, s, NameBytesMax)
}

// CheckKey is CheckName for keys; an empty key is allowed and means none.
func CheckKey(what, s string) error {
	if strings.HasPrefix(s, "~") {
		return &TextError{What: what, Text: s, Why: "keys that start with ~ are reserved"}
	}
	return checkText(what, s, KeyBytesMax)
}

func checkText(what, s string, max int) error {
	if len(s) > max {
		return &LimitError{What: what + " in bytes", Size: len(s), Max: max}
	}
	if !utf8.ValidString(s) {
		return &TextError{What: what, Text: s, Why: "is not valid UTF-8"}
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return &TextError{What: what, Text: s, Why: "holds a control character"}
	}
	return nil
}

func checkLabels(labels map[string]string) error {
	if len(labels) > LabelsMax {
		return &LimitError{What: "labels", Size: len(labels), Max: LabelsMax}
	}
	for k, v := range labels {
		if k == "" {
			return &TextError{What: "label", Text: k, Why: "is empty"}
		}
		if err := checkText("label", k, LabelKeyBytesMax); err != nil {
			return err
		}
		if err := checkText("label value", v, LabelValueBytesMax); err != nil {
			return err
		}
	}
	return nil
}
