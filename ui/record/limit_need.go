package record

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/reprise-run/reprise/journal"
)

// ParseLimitNeed reads what a run needs of a limit: its name, perhaps a key behind the first colon,
// and perhaps a cost behind the last star, as in tokens:acme*400. What stands behind a star and is
// no number belongs to the key or to the name.
func ParseLimitNeed(text string) (n journal.LimitNeed, err error) {
	n.Name = text
	if at := strings.LastIndexByte(text, '*'); at >= 0 {
		if cost, err := strconv.ParseInt(text[at+1:], 10, 64); err == nil {
			if n.Name, n.Cost = text[:at], cost; cost == 0 { // which a need without a cost has
				n.Cost = -1
			}
		}
	}
	n.Name, n.Key, _ = strings.Cut(n.Name, ":")
	if err := journal.CheckLimitNeeds([]journal.LimitNeed{n}); err != nil {
		return journal.LimitNeed{}, fmt.Errorf("%q is no limit: it is NAME, NAME:KEY or NAME:KEY*COST, as in tokens:acme*400: %w", text, err)
	}
	return n, nil
}
