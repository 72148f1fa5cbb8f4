package postgres

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// What ends the session, or is said on one that is lost, is about no member, whatever its code. Who
// opens a store hears at once of what lasts, with what to do.
func TestErrorsAboutNoMember(t *testing.T) {
	for what, c := range map[string]struct {
		severity, code      string
		lost                bool
		unavailable, member bool
		atOnce, lasting     bool // unavailable for who opens a store
	}{
		"data":                     {"ERROR", "22021", false, false, true, false, false},
		"data, and the connection": {"ERROR", "22021", true, true, true, false, false},
		"the end of the session":   {"FATAL", "22023", false, true, false, false, false},
		"a crash":                  {"PANIC", "XX000", false, true, false, false, false},
		"a missing right":          {"ERROR", noRight, false, true, false, false, true},
		"a missing schema":         {"ERROR", "3F000", false, true, false, false, true},
		"a missing database":       {"FATAL", "3D000", false, true, false, false, true},
		"shutting down":            {"FATAL", "57P01", false, true, false, true, false},
	} {
		err := error(&pgconn.PgError{Severity: c.severity, Code: c.code, Message: "no"})
		if got := errors.Is(translate(t.Context(), err, c.lost), journal.ErrUnavailable); got != c.unavailable {
			t.Errorf("%s: unavailable %v", what, got)
		}
		if got := errors.Is(translate(t.Context(), err, c.lost), driver.ErrLasting); got != c.lasting {
			t.Errorf("%s: lasting %v", what, got)
		}
		if got := memberFault(err); got != c.member {
			t.Errorf("%s: of a member %v", what, got)
		}
		if got := errors.Is(translateAtOnce(t.Context(), err, c.lost), journal.ErrUnavailable); got != c.atOnce {
			t.Errorf("%s: unavailable for who opens a store %v", what, got)
		}
	}
	for code, says := range map[string]string{noRight: "grant it", undefinedTable: "reprise migrate", "3D000": "bring it back"} {
		for _, err := range []error{translate(t.Context(), &pgconn.PgError{Code: code}, false), translateAtOnce(t.Context(), &pgconn.PgError{Code: code}, false)} {
			if !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), code) {
				t.Errorf("%s does not say %q: %v", code, says, err)
			}
		}
	}
}
