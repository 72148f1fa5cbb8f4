package replay_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// rig is a machine, the history that it has made, and what its workflow said.
type rig struct {
	m       *replay.Machine
	history []journal.Event
	said    map[string]string // the machine's own, reached through Info.Labels
}

func newRig(def *replay.Definition) *rig {
	said := map[string]string{}
	info := replay.Info{Run: journal.RunID{1, 2, 3}, Workflow: def.Name, Version: def.Version, Generation: 1, Labels: said}
	return &rig{m: replay.New(def, info, journal.New(nil, &journal.Options{PayloadBytesMax: 1 << 10})), said: said}
}

// say lets a workflow of a test tell what happens to it.
func say(ctx workflow.Context, format string, args ...any) {
	ctx.Info().Labels["said"] += unplaced(fmt.Sprintf(format, args...)) + "\n"
}

// reaction is everything that can be seen of a machine after an event.
type reaction struct {
	Issued    []string
	Waiting   []string
	Said      string
	Pending   []string
	NextTimer string
	Now       time.Time
	Inbox     journal.InboxSeq
	Finished  bool
	Error     string
}

func (r *rig) reaction(ev *journal.Event, err error) reaction {
	a := reaction{Waiting: r.m.Waiting(), Said: r.said["said"], Now: r.m.Now(), Inbox: r.m.InboxSeen(), Finished: r.m.Finished()}
	for _, c := range ev.Issued {
		a.Issued = append(a.Issued, c.String())
	}
	for _, s := range r.m.Pending() {
		line := fmt.Sprintf("%d %s", s.Cmd, s.Name)
		if s.Cancelled {
			line += " (asked to stop)"
		}
		a.Pending = append(a.Pending, line)
	}
	if t, ok := r.m.NextTimer(); ok {
		a.NextTimer = fmt.Sprintf("%d %s", t.Cmd, t.Due.Format(time.RFC3339Nano))
	}
	if err != nil {
		a.Error = unplaced(err.Error())
	}
	return a
}

var placed = regexp.MustCompile(`\S+ \(([a-z_]+\.go):[0-9]+\)`)

// unplaced is a text without the names of functions and line numbers, which differ from day to day.
func unplaced(text string) string { return placed.ReplaceAllString(text, "$1") }

// step applies a new event, and appends it to the history if the machine took it.
func (r *rig) step(ev journal.Event) (reaction, error) {
	ev.Seq = r.m.LastSeq() + 1
	err := r.m.Step(&ev)
	if err == nil {
		r.history = append(r.history, ev)
	}
	return r.reaction(&ev, err), err
}

// checkPrefixes replays the history from every prefix and takes the rest as new events: whatever
// can be seen must be the same as the first time.
func checkPrefixes(t *testing.T, def *replay.Definition, history []journal.Event) {
	t.Helper()
	want := reactions(t, def, history, 0, nil)
	for prefix := 1; prefix <= len(history); prefix++ {
		got := reactions(t, def, history, prefix, want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("replay of %d of %d events, then going on (-first +again):\n%s", prefix, len(history), diff)
		}
	}
}

func reactions(t *testing.T, def *replay.Definition, history []journal.Event, prefix int, want []reaction) []reaction {
	t.Helper()
	r := newRig(def)
	defer r.m.Close()
	var list []reaction
	for i := range history {
		ev := history[i]
		apply := r.m.Replay
		if i >= prefix {
			ev.Issued, apply = nil, r.m.Step
		}
		err := apply(&ev)
		if err != nil {
			t.Fatalf("replay of %d of %d events: event %d: %v", prefix, len(history), ev.Seq, err)
		}
		list = append(list, r.reaction(&ev, err))
		if want != nil && i == prefix-1 {
			checkTerminal(t, r, history)
		}
	}
	return list
}

// checkTerminal: what the code decided in the last replayed event can still be taken.
func checkTerminal(t *testing.T, r *rig, history []journal.Event) {
	t.Helper()
	if _, armed := r.m.NextTimer(); r.m.Finished() && (armed || len(r.m.Pending()) > 0) {
		t.Error("a finished machine still has timers or steps")
	}
	d := r.m.Take()
	if len(d.Steps) > 0 || len(d.CancelSteps) > 0 {
		t.Errorf("a replay kept %d steps and %d cancels for Take", len(d.Steps), len(d.CancelSteps))
	}
	if sealed := r.m.Closed(); r.m.Finished() && !sealed != (d.Terminal != nil) {
		t.Errorf("sealed %v, terminal decision %v", sealed, d.Terminal)
	}
}

// here is the end of the place of the caller's line, plus some, as errors have it.
func here(plus int) string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("(%s:%d)", filepath.Base(file), line+plus)
}
