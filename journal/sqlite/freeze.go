package sqlite

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// freezesSQL writes when the timers of a run stood still.
const freezesSQL = `UPDATE reprise_runs SET freezes = ? WHERE id = ?`

// refreeze writes the freezes of a run.
func refreeze(q querier, run journal.RunID, f journal.Freezes) error {
	text, err := encodeFreezes(f)
	if err == nil {
		_, err = q.exec(freezesSQL, text, uuidArg(run))
	}
	return err
}

// encodeFreezes returns the times at which freezes have begun and ended, by turns.
func encodeFreezes(f journal.Freezes) (any, error) {
	if len(f) == 0 {
		return nil, nil
	}
	var list []int64
	for _, t := range driver.FreezeTimes(f) {
		list = append(list, t.UnixMicro())
	}
	b, err := json.Marshal(list)
	return string(b), err
}

// decodeFreezes reads what encodeFreezes wrote.
func decodeFreezes(s string) (journal.Freezes, error) {
	if s == "" {
		return nil, nil
	}
	var list []int64
	if err := json.Unmarshal([]byte(s), &list); err != nil {
		return nil, fmt.Errorf("%w: %w", driver.ErrMalformed, err)
	}
	times := make([]time.Time, len(list))
	for i, n := range list {
		times[i] = time.UnixMicro(n).UTC()
	}
	return journal.FreezesOf(times), nil
}
