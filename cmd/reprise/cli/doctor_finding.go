package cli

import "fmt"

// The severities of what doctor finds.
const (
	severityOK      = "ok"
	severityNote    = "note"    // worth knowing
	severityWarning = "warning" // will become an error, or may be one
	severityError   = "error"   // somebody has to act
)

// findingRecord is what doctor says of one thing.
type findingRecord struct {
	Severity string `json:"severity" doc:"ok, note, warning or error"`
	Check    string `json:"check" doc:"what was looked at: store, tables, settings, clock, nodes, blocked, quarantined, unserved, retired or waiting"`
	Text     string `json:"text" doc:"what was found"`
	Remedy   string `json:"remedy,omitempty" doc:"what to do"`
}

// doctor collects findings. An error of a check ends the examination: what cannot be asked cannot
// be well.
type doctor struct {
	c     *call
	found []findingRecord
}

func (d *doctor) say(severity, check, remedy, format string, args ...any) {
	d.found = append(d.found, findingRecord{Severity: severity, Check: check, Text: fmt.Sprintf(format, args...), Remedy: remedy})
}
