package runtimetest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/replaytest"
)

// History returns what is recorded of a run's present generation. Its String is for people and
// asserts; replaytest.WriteFile keeps it for replaytest.Golden. It fails the test if the run does
// not exist.
func (e *Env) History(run journal.RunID) *replaytest.History {
	e.Helper()
	h, err := e.history(run)
	if err != nil {
		e.Fatal(err)
	}
	return h
}

func (e *Env) history(run journal.RunID) (*replaytest.History, error) {
	client := e.Client()
	d, err := client.Describe(context.Background(), run)
	if err != nil {
		return nil, err
	}
	events, err := client.History(context.Background(), run)
	if err != nil {
		return nil, err
	}
	return replaytest.Of(d.Run, events), nil
}

// Generations returns what is recorded of each generation of a run, the present one last. Stores
// give out only that one, so the kit keeps the others as they are sealed. It fails the test if the
// run does not exist.
func (e *Env) Generations(run journal.RunID) []*replaytest.History {
	e.Helper()
	list, err := e.generations(run)
	if err != nil {
		e.Fatal(err)
	}
	return list
}

func (e *Env) generations(run journal.RunID) ([]*replaytest.History, error) {
	last, err := e.history(run)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return append(slices.Clone(e.sealed[run]), last), nil
}

// seal keeps the histories that end with these commits, with the commits' own events. A commit that
// was refused ended nothing. After a crash the same commit may come again; the generation number
// tells that it is kept already.
func (e *Env) seal(ending map[journal.RunID]*replaytest.History, commits []driver.Commit, out []driver.Outcome) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range commits {
		c := &commits[i]
		h := ending[c.Run]
		if h == nil || out[i].Err != nil {
			continue
		}
		h.Events, h.Open = append(h.Events, c.Events...), false
		if n := len(e.sealed[c.Run]); n == 0 || e.sealed[c.Run][n-1].Run.Generation < h.Run.Generation {
			e.sealed[c.Run] = append(e.sealed[c.Run], h)
		}
	}
}

// ending returns the histories so far of the generations that the commits are to end. It must be
// called before they are written: afterwards the store does not give those histories out any more.
func (p *process) ending(ctx context.Context, commits []driver.Commit) map[journal.RunID]*replaytest.History {
	var list map[journal.RunID]*replaytest.History
	for i := range commits {
		if commits[i].Continue == nil {
			continue
		}
		h, err := p.Store.Load(ctx, []driver.LoadRequest{{Run: commits[i].Run}})
		if err != nil || h[0].Err != nil || h[0].Run.Generation != commits[i].Generation {
			continue // the commit will be refused
		}
		if list == nil {
			list = map[journal.RunID]*replaytest.History{}
		}
		list[commits[i].Run] = replaytest.Of(h[0].Run, h[0].Events)
	}
	return list
}

// WantHistory fails the test if the history of a run is not want: one event a line, as
// replaytest.History.String prints them. Space around the lines and empty lines are ignored.
func (e *Env) WantHistory(run journal.RunID, want string) {
	e.Helper()
	if diff := cmp.Diff(trimmed(want), trimmed(e.History(run).String())); diff != "" {
		e.Errorf("history of run %s (-want +got)\n%s", run, diff)
	}
}

func trimmed(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// check checks every run of the test, children included.
func (e *Env) check() {
	e.Helper()
	f := journal.ListFilter{Limit: journal.ListMax}
	for {
		page, err := e.client.List(context.Background(), f)
		if err != nil {
			e.Error(err)
			return
		}
		for i := range page.Runs {
			if err := e.checkRun(page.Runs[i].ID); err != nil {
				e.Errorf("run %s: %v", page.Runs[i].ID, err)
			}
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			return
		}
	}
}

// checkRun checks every generation of a run: none is missing, but those from which the run has gone
// back, and each passes checkGeneration.
func (e *Env) checkRun(run journal.RunID) error {
	list, err := e.generations(run)
	if err != nil {
		return err
	}
	want := journal.Generation(1)
	for _, h := range list {
		if g := h.Run.Generation; g != want && (g < want || h.Run.Rewound == nil) {
			return fmt.Errorf("generation %d is in place of %d", g, want)
		}
		want = h.Run.Generation + 1
		if err := e.checkGeneration(h); err != nil {
			return fmt.Errorf("generation %d: %w", h.Run.Generation, err)
		}
	}
	return nil
}

// checkGeneration checks that each outcome is recorded once, that no step is recorded as completed
// whose body, or fake, did not return without an error, and that the code does the same again from
// every prefix of the history. A step may have been executed more often than it is recorded: its
// turn may have been lost. A result that an operator has given took no attempt. In a fork, steps of
// kept events were executed for another run, so nothing is said of its steps.
func (e *Env) checkGeneration(h *replaytest.History) error {
	executed, done := map[journal.Cmd]bool{}, map[journal.Cmd]bool{}
	e.mu.Lock()
	for _, c := range e.calls {
		if c.Run == h.Run.Run && (c.generation == h.Run.Generation || h.Run.Rewound != nil && c.generation < h.Run.Generation) {
			executed[c.Cmd] = true
			done[c.Cmd] = done[c.Cmd] || c.Done && c.Err == nil
		}
	}
	e.mu.Unlock()
	forked := h.Run.Rewound != nil && (len(h.Run.Rewound.Forks) > 0 || !h.Run.Rewound.Run.IsZero())
	recorded := map[journal.Cmd]bool{}
	for i := range h.Events {
		ev := &h.Events[i]
		switch {
		case ev.Cmd != 0 && recorded[ev.Cmd]:
			return fmt.Errorf("event %d is a second outcome of command %d", ev.Seq, ev.Cmd)
		case ev.Kind == journal.StepCompleted && h.Run.Rewound != nil && ev.Attempt == 0:
		case ev.Kind == journal.StepCompleted && !forked && !(executed[ev.Cmd] && done[ev.Cmd]):
			return fmt.Errorf("event %d says that step %s is completed, but it was not executed", ev.Seq, ev.Name)
		}
		recorded[ev.Cmd] = true
	}
	if len(h.Events) == 0 || !e.code.Has(h.Run.Workflow, h.Run.Version) {
		return nil
	}
	return replaytest.Check(&e.code, h)
}
