package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/journaltest"
)

// spoilt says where a part of a run stands and what makes it unreadable.
var spoilt = map[string]struct{ table, column, kind, bad, where string }{
	journaltest.PartAttempts:    {"tasks", "attempts", "bytea", `\x7b2276223a327d`, "run_id = $1 AND $2 = 0"}, // {"v":2}
	journaltest.PartLabels:      {"runs", "labels", "jsonb", `{"l": ["v"]}`, "id = $1 AND $2 = 0"},
	journaltest.PartCarried:     {"runs", "carried", "bigint[]", `{1,NULL}`, "id = $1 AND $2 = 0"},
	journaltest.PartPublished:   {"runs", "published", "text", `{"v": 2}`, "id = $1 AND $2 = 0"},
	journaltest.PartStartLabels: {"runs", "start_labels", "jsonb", `{"l": ["v"]}`, "id = $1 AND $2 = 0"},
	journaltest.PartFreezes:     {"runs", "freezes", "timestamptz[]", `{infinity}`, "id = $1 AND $2 = 0"},
	journaltest.PartCreated:     {"runs", "created_at", "timestamptz", `infinity`, "id = $1 AND $2 = 0"},
	journaltest.PartPriority:    {"runs", "priority", "smallint", `6`, "id = $1 AND $2 = 0"},
	journaltest.PartTimeout:     {"runs", "timeout", "bigint", `-9223372036854775808`, "id = $1 AND $2 = 0"},
	journaltest.PartTaskUrgency: {"tasks", "priority", "smallint", `9`, "run_id = $1 AND $2 = 0"},
	journaltest.PartTaskState:   {"tasks", "state", "smallint", `9`, "run_id = $1 AND $2 = 0"},
	journaltest.PartMade:        {"tasks", "attempts", "bytea", `\x5b7b22636d64223a332c226d616465223a2d317d5d`, "run_id = $1 AND $2 = 0"},
	journaltest.PartVersion:     {"runs", "version", "integer", `-1`, "id = $1 AND $2 = 0"},
	journaltest.PartSeen:        {"runs", "inbox_seen", "bigint", `-1`, "id = $1 AND $2 = 0"},
	journaltest.PartPolicy:      {"runs", "parent_policy", "smallint", `9`, "id = $1 AND $2 = 0"},
	journaltest.PartEventCmd:    {"events", "cmd", "integer", `-1`, presentEvent},
	journaltest.PartEventInbox:  {"events", "inbox", "bigint", `-1`, presentEvent},
	journaltest.PartAttempt:     {"events", "attempt", "integer", `-1`, presentEvent},
	journaltest.PartMessageCmd:  {"inbox", "cmd", "integer", `-1`, "run_id = $1 AND number = $2"},
	journaltest.PartTaskStrikes: {"tasks", "strikes", "integer", `-1`, "run_id = $1 AND $2 = 0"},
	journaltest.PartTaskTurn:    {"tasks", "turn", "bigint", `-1`, "run_id = $1 AND $2 = 0"},
	journaltest.PartTaskLast:    {"tasks", "inbox_last", "bigint", `-1`, "run_id = $1 AND $2 = 0"},
	journaltest.PartIssued:      {"events", "issued", "text", `warp drive`, presentEvent},
	journaltest.PartKind:        {"events", "kind", "smallint", `99`, presentEvent},
	journaltest.PartTime:        {"events", "at", "timestamptz", `infinity`, presentEvent},
	journaltest.PartMessage:     {"inbox", "kind", "smallint", `77`, "run_id = $1 AND number = $2"},
	journaltest.PartMessageTime: {"inbox", "at", "timestamptz", `-infinity`, "run_id = $1 AND number = $2"},
	journaltest.PartEnd:         {"runs", "closed_seq", "integer", `99`, "id = $1 AND $2 = 0"},
}

const presentEvent = "run_id = $1 AND seq = $2 AND generation = (SELECT r.generation FROM SCHEMA.runs r WHERE r.id = $1)"

// Spoil implements journaltest.Spoiler.
func (s agedStore) Spoil(ctx context.Context, run journal.RunID, part string, n int) (func(context.Context) error, error) {
	p, ok := spoilt[part]
	if !ok {
		return nil, fmt.Errorf("%s: %w", part, errors.ErrUnsupported)
	}
	set := strings.ReplaceAll(fmt.Sprintf(`WITH old AS (SELECT %[2]s::text AS x FROM SCHEMA.%[1]s WHERE %[4]s)
		UPDATE SCHEMA.%[1]s SET %[2]s = $3::text::%[3]s WHERE %[4]s AND ($4::text IS NULL OR %[2]s = $4::text::%[3]s)
		RETURNING (SELECT x FROM old)`, p.table, p.column, p.kind, p.where), "SCHEMA", s.schema)
	var good *string // null is restored as null
	err := s.pool.QueryRow(ctx, set, [16]byte(run), n, p.bad, nil).Scan(&good)
	if err != nil {
		return nil, fmt.Errorf("spoil %s: %w", part, err)
	}
	return func(ctx context.Context) error {
		var bad string
		if err := s.pool.QueryRow(ctx, set, [16]byte(run), n, good, p.bad).Scan(&bad); err != nil {
			return fmt.Errorf("%s does not hold %s any more: %w", part, p.bad, err)
		}
		return nil
	}, nil
}
