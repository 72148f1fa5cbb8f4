package worker

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// heeding is a membership of which only Heed is called.
type heeding struct {
	driver.Membership
	list []journal.Pause
	err  error
	log  []int64 // what the node says that it heeds
}

func (m *heeding) Heed(_ context.Context, heeded int64) (driver.Orders, error) {
	m.log = append(m.log, heeded)
	return driver.Orders{Pauses: m.list}, m.err
}

// J11: the node says that it heeds a pause after the actor system has taken it in, never before, and
// asks for nothing of a paused scope. When the pause is over it claims at once.
func TestPausesAreHeeded(t *testing.T) {
	m := &heeding{}
	a, b := journal.Route{Queue: "a", Workflow: "w", Version: 1}, journal.Route{Queue: "b", Workflow: "w", Version: 1}
	var taken [][]journal.Pause
	claims := 0
	var lines bytes.Buffer
	p := &pauses{member: m, node: 7, routes: []journal.Route{a, b}, claim: func() { claims++ }, log: slog.New(slog.NewTextHandler(&lines, nil)),
		pause: func(list []journal.Pause) {
			taken = append(taken, list)
			for _, q := range list {
				if slices.Contains(m.log, q.Number) && !slices.ContainsFunc(taken[:len(taken)-1], func(l []journal.Pause) bool { return slices.Contains(numbers(l), q.Number) }) {
					t.Errorf("pause %d was heeded before it was taken in", q.Number)
				}
			}
		}}
	p.take(nil)
	read := func() {
		for p.heed(t.Context()) {
		}
	}
	read()
	m.list = []journal.Pause{{Scope: journal.Scope{Queue: "b"}, Number: 5}, {Scope: journal.Scope{Workflow: "other"}, Number: 4}}
	read()
	if diff := cmp.Diff([]journal.Route{a}, p.openRoutes()); diff != "" {
		t.Errorf("routes: %s", diff)
	}
	claimed := claims
	read()
	m.list = m.list[1:]
	read()
	if diff := cmp.Diff([]int64{0, 0, 5, 5, 5, 4}, m.log); diff != "" {
		t.Errorf("heeded: %s", diff)
	}
	if len(p.openRoutes()) != 2 || claims != claimed+1 {
		t.Errorf("after the resume: %v, %d claims", p.openRoutes(), claims-claimed)
	}
	told := len(taken)
	read()
	if len(taken) != told {
		t.Errorf("the actor system is told of the same pauses again: %v", taken[told:])
	}
	m.log = m.log[:len(m.log)-1]
	m.err = journal.ErrUnavailable
	read()
	if m.log = nil; lines.Len() > 0 {
		t.Errorf("an outage is logged: %s", lines.String())
	}
	m.err = errors.New("no such column")
	read()
	if !strings.Contains(lines.String(), "the pauses of queues and workflows cannot be read; they will be read again") {
		t.Errorf("the log says %s", lines.String())
	}
	if diff := cmp.Diff([]int64{4}, m.log); diff != "" {
		t.Errorf("heeded: %s", diff)
	}
}

func numbers(list []journal.Pause) (n []int64) {
	for i := range list {
		n = append(n, list[i].Number)
	}
	return n
}
