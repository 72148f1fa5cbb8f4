package journaltest

import (
	"errors"
	"testing"

	"github.com/reprise-run/reprise/journal"
)

// TestFaultsFindsPlantedBugs: a store that breaks J4 anywhere is found by some position and manner.
func TestFaultsFindsPlantedBugs(t *testing.T) {
	t.Parallel()
	bugs := map[string]planted{
		"a repeated start is doubled": {start: func(m *Memory, st *journal.Start) {
			if m.db.runs[st.ID] != nil {
				st.ID, st.Key = journal.NewRunID(), ""
			}
		}},
		"a repeated message is doubled": {sent: func(m *Memory, msg journal.Message, _ *journal.Sent) {
			if r := m.open(msg.Run); r != nil {
				delete(r.known, msg.Key)
			}
		}},
	}
	for _, name := range []string{"J4 a repeated commit is not recognised", "J4 a lost claim is not told again"} {
		bugs[name] = plantedBugs[name]
	}
	for name, bug := range bugs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bug.Memory = NewMemory(nil)
			want, _, err := scenario(t.Context(), &bug, nil)
			if err != nil {
				t.Fatalf("without faults: %v", err)
			}
			for _, fault := range []Fault{FaultBefore, FaultAfter, FaultUnknown} {
				err = errors.Join(err, everyFault(t.Context(), &bug, fault, want))
			}
			t.Log(err)
			if err == nil {
				t.Error("not found")
			}
		})
	}
}
