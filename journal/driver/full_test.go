package driver_test

import (
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A start that a full node of this process leaves to others is announced on both sides: another
// process may have room. Otherwise it stays here.
func TestHintsOfAFullNodeGoToOtherProcesses(t *testing.T) {
	route := journal.Route{Queue: journal.DefaultQueue, Workflow: "w", Version: 1}
	for _, full := range []bool{false, true} {
		p := &postman{started: []journal.Started{{Run: journal.NewRunID(), Created: true}}}
		j := driver.New(p, nil)
		m, err := j.Join(t.Context(), journal.Node{Name: "n", Routes: []journal.Route{route}})
		if err != nil {
			t.Fatal(err)
		}
		p.remote = nil
		j.SetFull(m.ID(), true)
		j.SetFull(m.ID(), full)
		if _, err := j.Start(t.Context(), nil, []journal.Start{{ID: p.started[0].Run, Workflow: "w"}}); err != nil {
			t.Fatal(err)
		}
		if told := len(p.remote) > 0; told != full {
			t.Errorf("full %v: other processes were told %v", full, p.remote)
		}
	}
}
