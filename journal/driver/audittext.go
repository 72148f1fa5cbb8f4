package driver

import (
	"strings"

	"github.com/reprise-run/reprise/journal"
)

// auditText is the beginning of a text, as much of it as the audit keeps.
func auditText(text string) string {
	if len(text) > journal.AuditTextBytesMax {
		text = strings.ToValidUTF8(text[:journal.AuditTextBytesMax], "")
	}
	return text
}
