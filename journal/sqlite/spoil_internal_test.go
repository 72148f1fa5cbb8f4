package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/journaltest"
)

// spoilt says where a part of a run stands and what makes it unreadable.
var spoilt = map[string]struct {
	table, column string
	bad           any
	where         string
}{
	journaltest.PartAttempts:    {"tasks", "attempts", []byte(`{"v":2}`), "run_id = ?1 AND ?2 = 0"},
	journaltest.PartLabels:      {"runs", "labels", `["v"]`, "id = ?1 AND ?2 = 0"},
	journaltest.PartCarried:     {"runs", "carried", `{"v":2}`, "id = ?1 AND ?2 = 0"},
	journaltest.PartStartLabels: {"runs", "start_labels", `{"l":["v"]}`, "id = ?1 AND ?2 = 0"},
	journaltest.PartFreezes:     {"runs", "freezes", `{"v":2}`, "id = ?1 AND ?2 = 0"},
	journaltest.PartPublished:   {"runs", "published", `{"v":2}`, "id = ?1 AND ?2 = 0"},
	journaltest.PartMade:        {"tasks", "attempts", []byte(`[{"cmd":3,"made":-1}]`), "run_id = ?1 AND ?2 = 0"},
	journaltest.PartVersion:     {"runs", "version", int64(-1 << 40), "id = ?1 AND ?2 = 0"},
	journaltest.PartSeen:        {"runs", "inbox_seen", int64(-1), "id = ?1 AND ?2 = 0"},
	journaltest.PartPolicy:      {"runs", "parent_policy", int64(1 << 16), "id = ?1 AND ?2 = 0"},
	journaltest.PartEventCmd:    {"events", "cmd", int64(-1 << 33), presentEvent},
	journaltest.PartEventInbox:  {"events", "inbox", int64(-1), presentEvent},
	journaltest.PartAttempt:     {"events", "attempt", int64(-1), presentEvent},
	journaltest.PartMessageCmd:  {"inbox", "cmd", int64(-1), "run_id = ?1 AND number = ?2"},
	journaltest.PartTaskStrikes: {"tasks", "strikes", int64(-1), "run_id = ?1 AND ?2 = 0"},
	journaltest.PartTaskTurn:    {"tasks", "turn", int64(-1), "run_id = ?1 AND ?2 = 0"},
	journaltest.PartTaskLast:    {"tasks", "inbox_last", int64(-1), "run_id = ?1 AND ?2 = 0"},
	journaltest.PartIssued:      {"events", "issued", "warp drive", presentEvent},
	journaltest.PartPriority:    {"runs", "priority", int64(6), "id = ?1 AND ?2 = 0"},
	journaltest.PartTimeout:     {"runs", "timeout", int64(math.MinInt64), "id = ?1 AND ?2 = 0"},
	journaltest.PartTaskUrgency: {"tasks", "priority", int64(9), "run_id = ?1 AND ?2 = 0"},
	journaltest.PartTaskState:   {"tasks", "state", int64(9), "run_id = ?1 AND ?2 = 0"},
	journaltest.PartKind:        {"events", "kind", int64(99), presentEvent},
	journaltest.PartMessage:     {"inbox", "kind", int64(77), "run_id = ?1 AND number = ?2"},
	journaltest.PartEnd:         {"runs", "closed_seq", int64(99), "id = ?1 AND ?2 = 0"},
}

const presentEvent = "run_id = ?1 AND seq = ?2 AND generation = (SELECT r.generation FROM reprise_runs r WHERE r.id = ?1)"

// Spoil implements journaltest.Spoiler. Times are numbers here, and any number is a time.
func (s Aged) Spoil(ctx context.Context, run journal.RunID, part string, n int) (func(context.Context) error, error) {
	p, ok := spoilt[part]
	if !ok {
		return nil, fmt.Errorf("%s: %w", part, errors.ErrUnsupported)
	}
	var good any
	get := fmt.Sprintf(`SELECT %s FROM reprise_%s WHERE %s`, p.column, p.table, p.where)
	set := fmt.Sprintf(`UPDATE reprise_%[1]s SET %[2]s = ?3 WHERE %[3]s AND %[2]s IS ?4`, p.table, p.column, p.where)
	swap := func(ctx context.Context, from, to any) error {
		return s.write(ctx, 0, func(b *batch) error {
			changed, err := b.exec(set, uuidArg(run), int64(n), to, from)
			if err == nil && changed != 1 {
				err = fmt.Errorf("%s of run %s does not hold %v", part, run, from)
			}
			return err
		})
	}
	err := s.read(ctx, func(c *conn) error {
		return c.query(get, func(r row) error { good = r[0]; return nil }, uuidArg(run), int64(n))
	})
	if err == nil {
		err = swap(ctx, good, p.bad)
	}
	return func(ctx context.Context) error { return swap(ctx, p.bad, good) }, err
}
