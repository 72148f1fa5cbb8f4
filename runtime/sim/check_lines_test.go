package sim

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/reprise-run/reprise/journal"
)

// checkLines: what a program writes to the log is there, and once if nothing has gone wrong.
func checkLines(f *finder) {
	for _, r := range f.runs {
		if !r.Run.Status.Closed() || r.wasNotAsked() {
			continue
		}
		out, err := outcomeOf(r.Run.Terminal)
		if err != nil {
			continue // the model says so
		}
		reached := map[int]bool{}
		for _, e := range out.Trace {
			reached[e.ID] = true
		}
		walkOwn(r.plan.Program, func(in *instr) {
			if in.Do != doLog || !reached[in.ID] {
				return
			}
			n := 0
			for _, of := range r.ancestors() { // a fork is silent where its events are copies
				n += f.lines[lineOfRun{of.id, lineOf(in.ID)}]
			}
			if n == 0 || n > 1 && len(f.plan.Faults) == 0 && !r.wentBack() {
				f.breaks("%s: line %q was written %d times", r, lineOf(in.ID), n)
			}
		})
	}
}

// lineOfRun is what a run has written to the log.
type lineOfRun struct {
	run  journal.RunID
	text string
}

// logger keeps what programs write on a node, and what the node itself says for a seed that is
// looked at.
func (w *world) logger(name string) *slog.Logger { return slog.New(&lines{w: w, next: w.told(name)}) }

// told is what becomes of what a node says.
func (w *world) told(name string) slog.Handler {
	if !*verbose {
		return slog.DiscardHandler
	}
	return slog.NewTextHandler(logWriter{w}, &slog.HandlerOptions{Level: slog.LevelDebug}).WithAttrs([]slog.Attr{slog.String("process", name)})
}

type logWriter struct{ w *world }

// Write implements io.Writer.
func (l logWriter) Write(b []byte) (int, error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	fmt.Fprintf(&l.w.log, "%s ", l.w.elapsed())
	return l.w.log.Write(b)
}

// lines counts the lines of programs.
type lines struct {
	w    *world
	next slog.Handler
}

// Enabled implements slog.Handler.
func (l *lines) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (l *lines) Handle(ctx context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, linePrefix) {
		r.Attrs(func(a slog.Attr) bool {
			if id, ok := a.Value.Any().(journal.RunID); ok {
				l.w.mu.Lock()
				defer l.w.mu.Unlock()
				l.w.lines[lineOfRun{id, r.Message}]++
			}
			return true
		})
	}
	if strings.HasPrefix(r.Message, strayPrefix) {
		l.w.noteStray(r)
	}
	if !l.next.Enabled(ctx, r.Level) {
		return nil
	}
	return l.next.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (l *lines) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &lines{l.w, l.next.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (l *lines) WithGroup(name string) slog.Handler { return &lines{l.w, l.next.WithGroup(name)} }
